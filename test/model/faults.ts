import type { Call } from './parts/program.ts'
import type { Missing, Pod, PodName } from './pods.ts'
import { isMutation } from './outside.ts'
import type { Bounds, How, State, System } from './system.ts'

/** Something that may happen next. The label is the same whenever it is the same. */
export interface Action {
  readonly label: string
  readonly run: () => State | Missing
}

type Fault = Exclude<keyof Bounds, 'asks' | 'restores' | 'patient'>

/** A pod of the function, as Knative runs them. */
export type FunctionName = Exclude<PodName, 'w'>

/** A call that is not delayed. */
export interface OpenCall {
  readonly name: FunctionName
  readonly call: Call
}

/** All that may go wrong with a step: each kind as often as the bounds say. */
/** The step alone, and the step with a crash right after it: of its pod, or of the webhook that it has reached. */
export function withCrashes(system: System, state: State, name: PodName, step: Action): readonly Action[] {
  if (state.left.crashes === 0) return [step]
  const before = state.pods.w
  const crash = (of: PodName, late: boolean): State | Missing =>
    then(step.run(), (after) => {
      const isAtWork = after.pods[of].memory === undefined && (of === name || after.pods[of] !== before)
      return isAtWork ? system.crashed(spend(after, 'crashes'), of, late) : after
    })
  const own = { label: `${step.label}, then ${name} crashes`, run: () => crash(name, false) }
  const late = {
    label: `${step.label}, then ${name} crashes after it has sent`,
    run: () => crash(name, true),
  }
  const other = { label: `${step.label}, then w crashes`, run: () => crash('w', false) }
  return name === 'w' ? [step, own] : [step, own, late, other]
}

export function freezesOf(state: State, name: PodName, step: Action): readonly Action[] {
  if (state.left.freezes === 0) return []
  const freeze = (after: State): State =>
    after.pods[name].memory === undefined
      ? changed(spend(after, 'freezes'), name, { frozen: after.second })
      : after
  return [{ label: `${step.label}, then ${name} freezes`, run: () => then(step.run(), freeze) }]
}

/** The next call of the pod takes long. */
export function holdsOf(state: State, name: PodName, step: Action): readonly Action[] {
  if (state.left.holds === 0) return []
  const hold = (after: State): State => {
    const call = after.pods[name].state.calls.at(-1)
    if (after.pods[name].memory !== undefined || call === undefined) return after
    return changed(spend(after, 'holds'), name, { held: { call: call.number, since: after.second } })
  }
  return [{ label: `${step.label}, then the next of ${name} takes long`, run: () => then(step.run(), hold) }]
}

export function then(result: State | Missing, next: (state: State) => State | Missing): State | Missing {
  return typeof result === 'function' ? result : next(result)
}

export function spend(state: State, fault: Fault): State {
  return { ...state, left: { ...state.left, [fault]: state.left[fault] - 1 } }
}

export function changed(state: State, name: PodName, change: Partial<Pod>): State {
  return { ...state, pods: { ...state.pods, [name]: { ...state.pods[name], ...change } } }
}

export function lossesOf(system: System, state: State, { name, call }: OpenCall): readonly Action[] {
  if (state.left.losses === 0 || state.pods[name].executed.has(call.number)) return []
  const after = spend(state, 'losses')
  const hows: readonly How[] = isMutation(call.kind) ? ['lost', 'unsent', 'late'] : ['unsent']
  return hows.map((how) => ({
    label: `${name} ${call.kind} ${call.number} ${how}`,
    run: () => system.call(after, name, call, how),
  }))
}
