import { hash } from 'node:crypto'
import type { Pod } from './pods.ts'
import type { State } from './system.ts'
import { renamed, timeText, toLocal } from './parts/tokens.ts'

type Rename = Parameters<typeof renamed>[2]

/**
 * Equal for states that are the same: the same store and branch, and pods to which the same has happened. Times count by
 * their distance from now, and names by where they occur: a resource version or a commit that nobody can meet any more is
 * as good as any other.
 */
export function keyOf(state: State): string {
  const { second, store, branch, orphans, pods, left } = state
  const places = new Map<string, number>()
  const mark: Rename = (sort, token) => {
    if (sort === 'v') return Number(token) === store.resourceVersion ? '1' : '0'
    const name = sort + token
    const place = places.get(name) ?? places.size
    places.set(name, place)
    return String(place)
  }
  const look: Rename = (sort, token) => {
    if (sort === 'v') return mark(sort, token)
    return String(places.get(sort + token) ?? 'x')
  }
  const shared = [store, branch, orphans].map(textOf).join(' ')
  const { f1, f2, w } = pods
  const parts = [
    withoutAges(renamed(shared, -second, mark)),
    // It does not matter which of both it is.
    ...[podKey(f1, second, look), podKey(f2, second, look)].sort(),
    podKey(w, second, look),
    JSON.stringify(left),
  ]
  return hash('sha1', parts.join('\n'), 'base64')
}

const NOW = timeText(0)

/** A time that has passed is over, however long ago: that is all that anybody asks of it. */
function withoutAges(text: string): string {
  return text.replace(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d/g, (time) => (time <= NOW ? 'over' : time))
}

/** Values are never changed, so each is written once. */
const texts = new WeakMap<object, string>()

function textOf(value: object): string {
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = JSON.stringify(value, (key, part: unknown) => (key === 'resourceVersion' ? undefined : part))
  texts.set(value, text)
  return text
}

function podKey(pod: Pod, second: number, look: Rename): string {
  const { name, program, state, names, memory, frozen, thawed, held, owner, executed } = pod
  if (memory !== undefined)
    return name === 'w' ? sweepsKey(memory, second) : `${program} ${renamed(memory, 0, look)}`
  const known = names.known.map(({ sort, local, common }) => `${sort}${local}=${look(sort, common)}`)
  const standing = [frozen, held?.since].map((since) => (since === undefined ? '' : second - since))
  const answers = [...executed].map(([number, text]) => `${number} ${toLocal(text, names).text}`)
  return [
    state.id,
    second - names.epoch,
    known.join(),
    ...standing,
    held?.call,
    thawed,
    owner,
    ...answers,
  ].join(' ')
}

function sweepsKey(memory: string, second: number): string {
  const times: Readonly<Record<string, number>> = JSON.parse(memory)
  return JSON.stringify(Object.values(times).map((time) => time - second * 1000))
}
