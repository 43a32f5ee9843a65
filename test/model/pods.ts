import { startFunction, type Breakage } from './parts/function-pod.ts'
import type { LocalState, LocalStates } from './parts/local-states.ts'
import type { Call, Input, Program } from './parts/program.ts'
import { BEGINNING, toCommon, toLocal, type Names } from './parts/tokens.ts'
import { startWebhook } from './parts/webhook-pod.ts'

/** A pod of either part, as a value. */
export interface Pod {
  readonly name: PodName
  /** Of pods with the same program it does not matter which is which. */
  readonly program: string
  readonly state: LocalState
  readonly names: Names
  /** What it remembers at rest, in common names; undefined while it is at work. */
  readonly memory: string | undefined
  /** Stopped since that second: nothing in it runs. */
  readonly frozen: number | undefined
  /** It runs again, and its timers are late. */
  readonly thawed: boolean
  /** A call that takes long, since that second. */
  readonly held: { readonly call: number; readonly since: number } | undefined
  /** What was carried out, and the answer has not arrived. */
  readonly executed: ReadonlyMap<number, string>
  /** Of a function at work: the call of the webhook that waits for it; 0 where nobody does. */
  readonly owner: number
}

export type PodName = 'f1' | 'f2' | 'w'

/** A step that needs a state that was not met before: to be called, and then the step to be made again. */
export type Missing = () => Promise<unknown>

/** Pods of one system. */
export interface Pods {
  /** One that begins at that second. */
  readonly fresh: (name: PodName, second: number) => Pod | Missing
  /** What happens to it next, in common names. */
  readonly give: (pod: Pod, second: number, input: Omit<Input, 'at'>) => Given | Missing
  /** A call in common names; `pod` knows the names of what it has made itself by then. */
  readonly textOf: (pod: Pod, call: Call, fresh: () => number) => { readonly text: string; readonly pod: Pod }
}

export interface Given {
  readonly pod: Pod
  /** Calls for whose answers nobody waits any more. */
  readonly left: readonly Call[]
}

/** What the programs are: the product's, or with something broken on purpose. */
export interface PodSettings {
  readonly breakage: Breakage
  /**
   * The machines of both functions have clocks of their own, ten minutes behind and before the API server's. Otherwise
   * both are behind: then it does not matter which of both it is.
   */
  readonly clocksDiffer: boolean
}

const WALL_MS = { behind: -600_000, before: 600_000, webhook: 300_000 } as const
/** The intervals of the sweeps, and the time from a crash to the first sweep. */
const UNSETTLED_S = 30
const FULL_S = 300
const START_S = 1

/** Pods whose states are found in `states`. */
export function makePods(states: LocalStates, { breakage, clocksDiffer }: PodSettings): Pods {
  const behind = functionAt('f', WALL_MS.behind)
  const programs: Readonly<Record<PodName, Program>> = {
    f1: behind,
    f2: clocksDiffer ? functionAt('f before', WALL_MS.before) : behind,
    w: { name: 'w', wall: BEGINNING + WALL_MS.webhook, start: startWebhook },
  }

  function functionAt(name: string, wall: number): Program {
    const start: Program['start'] = (outside, memory) => startFunction(outside, memory, breakage)
    return { name, wall: BEGINNING + wall, start }
  }

  function begin(name: PodName, second: number, memory: string): Pod | Missing {
    const nothing: Names = { known: [], epoch: second }
    const local = name === 'w' ? { text: shifted(memory, -second), names: nothing } : toLocal(memory, nothing)
    const program = programs[name]
    const state = states.knownStart(program, local.text)
    if (state === undefined) return () => states.start(program, local.text)
    const { names } = local
    return { ...AT_REST, name, program: program.name, state, names, memory }
  }

  return {
    fresh: (name, second) =>
      // When it begins, a webhook sweeps all at once.
      begin(name, second, name === 'w' ? sweepsFrom(second, START_S) : ''),
    give(pod, second, { to, text }) {
      const at = pod.memory === undefined ? pod : begin(pod.name, second, pod.memory)
      if (typeof at === 'function') return at
      const local = toLocal(text, at.names)
      const input = { at: second - local.names.epoch, to, text: local.text }
      const state = states.known(at.state, input)
      if (state === undefined) return () => states.next(at.state, input)
      const given = { ...at, state, names: local.names, owner: pod.owner, thawed: false }
      const left = at.state.calls.filter(
        ({ number }) => number !== to && !state.calls.some((call) => call.number === number),
      )
      if (state.rest === undefined) {
        const executed = without(at.executed, [to, ...left.map(({ number }) => number)])
        return { pod: { ...given, executed, memory: undefined }, left }
      }
      const onlySwept = pod.memory !== undefined && to === 'timers'
      const memory = memoryAtRest(given, state.rest, onlySwept ? undefined : second)
      return { pod: { ...given, ...AT_REST, owner: given.owner, memory }, left }
    },
    textOf(pod, call, fresh) {
      const { text, names } = toCommon(call.text, pod.names, fresh)
      return { text, pod: names === pod.names ? pod : { ...pod, names } }
    },
  }
}

const AT_REST = {
  frozen: undefined,
  thawed: false,
  held: undefined,
  executed: new Map<number, string>(),
  owner: 0,
} as const

/**
 * The sweeps of a webhook begin again at the second when it has sent all events: else no two states would be equal at
 * different times.
 */
function memoryAtRest(
  { name, names }: Pick<Pod, 'name' | 'names'>,
  rest: string,
  second: number | undefined,
): string {
  if (name === 'w') return second === undefined ? shifted(rest, names.epoch) : sweepsFrom(second)
  // A commit that it remembers was read or pushed, so it has a common name.
  return toCommon(rest, names, () => 0).text
}

/** What a webhook at rest remembers: when it sweeps next, in seconds. */
export function sweepsFrom(second: number, full = FULL_S): string {
  return sweepsAt(second + UNSETTLED_S, second + full)
}

function sweepsAt(unsettled: number, full: number): string {
  return JSON.stringify({ unsettled: unsettled * 1000, full: full * 1000 })
}

function shifted(memory: string, seconds: number): string {
  const { unsettled, full }: Readonly<Record<'unsettled' | 'full', number>> = JSON.parse(memory)
  return sweepsAt(unsettled / 1000 + seconds, full / 1000 + seconds)
}

function without<K, V>(map: ReadonlyMap<K, V>, keys: readonly unknown[]): ReadonlyMap<K, V> {
  if (map.size === 0) return map
  return new Map([...map].filter(([key]) => !keys.includes(key)))
}
