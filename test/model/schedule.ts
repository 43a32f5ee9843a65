import { actionsOf, isQuiet } from './actions.ts'
import type { Action } from './faults.ts'
import { makeLocalStates } from './parts/local-states.ts'
import { makePods, type PodSettings } from './pods.ts'
import { brokenEnd, brokenPromise } from './promise.ts'
import { isEnd, stateOf, type Broken } from './search.ts'
import { makeSystem, type Bounds, type State, type System } from './system.ts'

/** Steps that can be made again: what they begin with, and the label of each. */
export interface Schedule {
  readonly settings: PodSettings
  readonly bounds: Bounds
  readonly steps: readonly string[]
}

/** A run of real programs side by side; no step of it was met before. */
interface Run {
  readonly system: System
  readonly steps: string[]
  state: State
}

/** More than any schedule needs. */
const MOST_STEPS = 1_000

/** The schedule as one line. */
export function printed(schedule: Schedule): string {
  return JSON.stringify(schedule)
}

/** The schedule of such a line. */
export function readSchedule(line: string): Schedule {
  const schedule: Schedule = JSON.parse(line)
  return schedule
}

/** Makes the steps again, and returns the promise that is broken after the last one. Throws where a step is not possible. */
export async function replay({ settings, bounds, steps }: Schedule): Promise<string | undefined> {
  const run = await begin(settings, bounds)
  let broken: string | undefined
  for (const label of steps) {
    const actions = actionsOf(run.system, run.state)
    const action = actions.find((one) => one.label === label)
    if (action === undefined)
      throw new Error(`"${label}" is not possible here, but ${actions.map((one) => one.label).join('; ')}`)
    broken = await make(run, action)
  }
  return broken ?? endOf(run)
}

/**
 * Makes steps that are drawn: each number, from 0 to 1, chooses among those that are possible, the early ones more often.
 * Then nothing goes wrong any more, until nothing happens. Returns what is broken, if anything is.
 */
export async function runDrawn(
  settings: PodSettings,
  bounds: Bounds,
  draws: readonly number[],
): Promise<Broken | undefined> {
  const run = await begin(settings, bounds)
  for (const draw of draws) {
    const actions = actionsOf(run.system, run.state)
    const action = actions[Math.floor(actions.length * draw * draw)]
    const promise = action && (await make(run, action))
    if (promise !== undefined) return { promise, schedule: run.steps }
  }
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    run.state = { ...run.state, left: { ...NO_FAULTS, asks: run.state.left.asks } }
    const actions = actionsOf(run.system, run.state)
    const [action] = actions
    if (action === undefined || isEnd(run.state, actions)) break
    const promise = await make(run, action)
    if (promise !== undefined) return { promise, schedule: run.steps }
  }
  const promise = brokenEnd(run.state)
  return promise === undefined ? undefined : { promise, schedule: run.steps }
}

/** The user creates the resource, and nothing goes wrong. */
export const NO_FAULTS: Bounds = {
  asks: ['create'],
  crashes: 0,
  freezes: 0,
  holds: 0,
  losses: 0,
  lostEvents: 0,
  doubles: 0,
  others: 0,
}

async function begin(settings: PodSettings, bounds: Bounds): Promise<Run> {
  const system = makeSystem(makePods(makeLocalStates(), settings))
  return { system, steps: [], state: await stateOf(() => system.begin(bounds)) }
}

async function make(run: Run, action: Action): Promise<string | undefined> {
  const before = run.state
  run.state = await stateOf(action.run)
  run.steps.push(action.label)
  return brokenPromise(before, run.state)
}

function endOf({ system, state }: Run): string | undefined {
  return isQuiet(state) && isEnd(state, actionsOf(system, state)) ? brokenEnd(state) : undefined
}
