/**
 * What is only compared with itself: resource versions, names of commits, the random fractions by which claims differ,
 * and times, of which only the distance counts. A program sees them under names of its own, in the order in which it
 * meets them, and its clock begins when it does: so two programs to which the same happens are in the same state.
 */
export interface Names {
  /** What this program has met, in that order. What it makes itself has a local name that begins with 9. */
  readonly known: readonly Known[]
  /** The second at which its clock began. */
  readonly epoch: number
}

type Sort = 'v' | 'f' | 'c'

interface Known {
  readonly sort: Sort
  readonly local: string
  readonly common: string
}

export interface Renamed {
  readonly text: string
  readonly names: Names
}

/** The time of the API server at the second 0, for everybody. */
export const BEGINNING = Date.parse('2026-03-01T10:00:00Z')

const TOKENS =
  /(resourceVersion\\*":\\*")(\d+)|\b(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{6}))?Z|\bc(\d{11})(0{28})?(?![0-9a-f])/g

/** The API server's time at a second, without its zone. */
export function timeText(second: number): string {
  return new Date(BEGINNING + second * 1000).toISOString().slice(0, 19)
}

type Rename = (sort: Sort, token: string) => string

/** The text with all such names renamed and its times shifted by whole seconds. */
export function renamed(text: string, seconds: number, rename: Rename): string {
  return text.replace(TOKENS, (whole: string, ...groups: (string | undefined)[]) => {
    const [before, version, time, fraction, commit, rest = ''] = groups
    if (before !== undefined && version !== undefined) return `${before}${rename('v', version)}`
    if (commit !== undefined) return `c${rename('c', commit)}${rest}`
    if (time === undefined) return whole
    const shifted = seconds === 0 ? time : shiftedTime(time, seconds)
    return fraction === undefined ? `${shifted}Z` : `${shifted}.${rename('f', fraction)}Z`
  })
}

const shiftedTimes = new Map<string, string>()

function shiftedTime(time: string, seconds: number): string {
  const key = `${time} ${seconds}`
  const known = shiftedTimes.get(key)
  if (known !== undefined) return known
  const shifted = new Date(Date.parse(`${time}Z`) + seconds * 1000).toISOString().slice(0, 19)
  shiftedTimes.set(key, shifted)
  return shifted
}

const WIDTH = { v: 1, f: 6, c: 11 } as const

/** The text as the program sees it, and the names that it knows then. */
export function toLocal(text: string, names: Names): Renamed {
  let { known } = names
  const local = renamed(text, -names.epoch, (sort, token) => {
    const found = known.find((one) => one.sort === sort && one.common === token)
    if (found !== undefined) return found.local
    const made = String(known.length + 1).padStart(WIDTH[sort], '0')
    known = [...known, { sort, local: made, common: token }]
    return made
  })
  return { text: local, names: known === names.known ? names : { ...names, known } }
}

/** The text as everybody sees it. What the program has made itself gets its common name here, by `fresh`. */
export function toCommon(text: string, names: Names, fresh: () => number): Renamed {
  let { known } = names
  const all = renamed(text, names.epoch, (sort, token) => {
    const found = known.find((one) => one.sort === sort && one.local === token)
    if (found !== undefined) return found.common
    const made = String(fresh()).padStart(WIDTH[sort], '0')
    known = [...known, { sort, local: token, common: made }]
    return made
  })
  return { text: all, names: known === names.known ? names : { ...names, known } }
}
