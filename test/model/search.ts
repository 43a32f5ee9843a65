import { actionsOf, isQuiet, isSettled } from './actions.ts'
import type { Action } from './faults.ts'
import type { Missing } from './pods.ts'
import { brokenEnd, brokenPromise } from './promise.ts'
import { keyOf } from './state-key.ts'
import type { Bounds, State, System } from './system.ts'

/** What a search has found. */
export interface Found {
  /** Different states, and steps between them. */
  readonly states: number
  readonly steps: number
  /** Ends, in which nothing more happens. */
  readonly ends: number
  readonly deepest: number
  readonly broken: Broken | undefined
}

/** A schedule that breaks a promise. */
export interface Broken {
  readonly promise: string
  readonly schedule: readonly string[]
}

/** The state after a step, whose real code is run where this was not met before. */
export async function stateOf(run: () => State | Missing): Promise<State> {
  for (;;) {
    const result = run()
    if (typeof result !== 'function') return result
    await result()
  }
}

interface Level {
  readonly state: State
  readonly key: string
  readonly actions: readonly Action[]
  next: number
}

/** Walks through all states within the bounds, depth first, and stops at the first promise that is broken. */
export async function searchAll(system: System, bounds: Bounds, most = Infinity): Promise<Found> {
  const seen = new Set<string>()
  const onPath = new Set<string>()
  const path: Level[] = []
  const schedule: string[] = []
  let [steps, ends, deepest] = [0, 0, 0]
  const found = (promise?: string): Found => ({
    ...{ states: seen.size, steps, ends, deepest },
    broken: promise === undefined ? undefined : { promise, schedule: [...schedule] },
  })

  function enter(state: State, key: string): string | undefined {
    seen.add(key)
    onPath.add(key)
    const actions = actionsOf(system, state)
    path.push({ state, key, actions, next: 0 })
    deepest = Math.max(deepest, path.length)
    if (!isEnd(state, actions)) return undefined
    ends += 1
    return brokenEnd(state)
  }

  const first = await stateOf(() => system.begin(bounds))
  enter(first, keyOf(first))
  for (let level = path.at(-1); level !== undefined; level = path.at(-1)) {
    const action = level.actions[level.next]
    if (action === undefined) {
      path.pop()
      schedule.pop()
      onPath.delete(level.key)
      continue
    }
    level.next += 1
    steps += 1
    const result = action.run()
    const state = typeof result === 'function' ? await stateOf(action.run) : result
    schedule.push(action.label)
    const broken = brokenPromise(level.state, state)
    if (broken !== undefined) return found(broken)
    const key = keyOf(state)
    if (onPath.has(key)) return found('it goes round in a circle')
    const complaint = seen.has(key) ? undefined : enter(state, key)
    if (complaint !== undefined) return found(complaint)
    if (path.at(-1)?.key !== key) schedule.pop()
    if (seen.size >= most) return found()
  }
  return found()
}

/** Whether nothing more has to happen: what is late may still come, or never. */
export function isEnd(state: State, actions: readonly Action[]): boolean {
  if (state.left.asks.length > 0) return false
  return actions.length === 0 || (isQuiet(state) && isSettled(state))
}
