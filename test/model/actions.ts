import type { Call } from './parts/program.ts'
import { requestsOf } from './cluster-store.ts'
import type { Missing, Pod, PodName } from './pods.ts'
import { dueOf, type State, type System } from './system.ts'
import { isMutation, withOther } from './outside.ts'
import {
  changed,
  freezesOf,
  holdsOf,
  lossesOf,
  spend,
  then,
  withCrashes,
  type Action,
  type FunctionName,
  type OpenCall,
} from './faults.ts'

const FUNCTIONS = ['f1', 'f2'] as const
const PODS = ['f1', 'f2', 'w'] as const

/**
 * All that may happen next. Time goes on only where nothing else can: whoever does not stand still is quick. Three kinds
 * of steps come before all others, because it does not matter to anybody else when they happen: timers that are due
 * (unless their pod was frozen: then an answer that has waited may come first), an event that finds a free pod, and the
 * read of an object that nobody will change.
 */
export function actionsOf(system: System, state: State): readonly Action[] {
  const { pods } = state
  const late = PODS.find((name) => isDue(pods[name], state.second) && !pods[name].thawed)
  if (late !== undefined) return timersOf(system, state, late)
  const posts = postsOf(system, state)
  if (posts.length > 0) return posts
  const calls = FUNCTIONS.flatMap((name) => callsOf(state, name).map((call) => ({ name, call })))
  const alone = calls.find(({ call }) => isAlone(state, call))
  if (alone !== undefined) return answersOf(system, state, alone)
  const answers = calls.flatMap((one) => answersOf(system, state, one))
  const thawed = FUNCTIONS.filter((name) => pods[name].thawed && isDue(pods[name], state.second))
  const progress = [...answers, ...thawed.flatMap((name) => timersOf(system, state, name))]
  const time = progress.length > 0 || isOver(state) ? [] : timeOf(state)
  return [
    ...time,
    ...progress,
    ...standingOf(system, state),
    ...asksOf(system, state),
    ...othersOf(system, state),
  ]
}

/** Nobody is at work. */
export function isQuiet({ pods }: State): boolean {
  return PODS.every((name) => pods[name].memory !== undefined)
}

/** Whether the status says that all was done, as the product reads it. */
export function isSettled({ store }: State): boolean {
  const { observedGeneration, lastHandledRequestedAt, phase } = store.status
  if (phase !== 'Succeeded' && phase !== 'Failed') return false
  const requests = requestsOf(store)
  const handled = requests === 0 || lastHandledRequestedAt === `request ${requests}`
  return observedGeneration === store.generation && handled
}

/** Whether nothing happens before the user asks again. */
function isOver(state: State): boolean {
  const { asks, patient = false } = state.left
  return isQuiet(state) && ((asks.length > 0 && !patient) || isSettled(state))
}

function isDue(pod: Pod, second: number): boolean {
  return pod.frozen === undefined && dueOf(pod) <= second
}

/** Calls of a pod of the function that are not delayed. */
function callsOf({ pods }: State, name: FunctionName): readonly Call[] {
  const { memory, frozen, held, state } = pods[name]
  if (memory !== undefined || frozen !== undefined) return []
  return state.calls.filter(({ number }) => held?.call !== number)
}

/** Of all objects only the one of a request changes, and at the end the one of the spec. */
function isAlone({ left }: State, { kind, text }: Call): boolean {
  const changes = left.asks.some((ask) => ask === 'request' || ask === 'back')
  return kind === 'read' && text.includes('/configmaps/') && !changes
}

function timersOf(system: System, state: State, name: PodName): readonly Action[] {
  return withCrashes(system, state, name, { label: `${name} timers`, run: () => system.fire(state, name) })
}

/** A call is carried out and answered, or goes wrong; and then its pod may stop. */
function answersOf(system: System, state: State, { name, call }: OpenCall): readonly Action[] {
  const label = `${name} ${call.kind} ${call.number}`
  const answer = { label, run: () => system.call(state, name, call, 'done') }
  return [
    ...withCrashes(system, state, name, answer),
    ...freezesOf(state, name, answer),
    ...holdsOf(state, name, answer),
    ...lossesOf(system, state, { name, call }),
  ]
}

/** The event of the webhook reaches a pod that is free, or two of them, or none. */
function postsOf(system: System, state: State): readonly Action[] {
  const { pods, left } = state
  const taken = FUNCTIONS.map((name) => pods[name].owner)
  const post = pods.w.state.calls.find(({ number }) => pods.w.memory === undefined && !taken.includes(number))
  if (post === undefined) return []
  const free = FUNCTIONS.filter((name) => pods[name].memory !== undefined)
  const label = `w post ${post.number}`
  const once = free.map((name) => ({
    label: `${label} to ${name}`,
    run: () => system.deliver(state, name, post, post.text),
  }))
  const twice = { label: `${label} to both`, run: () => deliverTwice(system, spend(state, 'doubles'), post) }
  const broken = {
    label: `${label} unsent`,
    run: () => system.call(spend(state, 'losses'), 'w', post, 'unsent'),
  }
  return [
    ...once,
    ...(left.doubles > 0 && free.length === FUNCTIONS.length ? [twice] : []),
    ...(left.losses > 0 && free.length > 0 ? [broken] : []),
  ]
}

function deliverTwice(system: System, state: State, post: Call): State | Missing {
  const [first, second] = FUNCTIONS
  return then(system.deliver(state, first, post, post.text), (after) =>
    system.deliver(after, second, undefined, post.text),
  )
}

/** What stands still goes on, or what it has sent is carried out meanwhile. */
function standingOf(system: System, state: State): readonly Action[] {
  return FUNCTIONS.flatMap((name) => {
    const pod = state.pods[name]
    const { frozen, held, executed } = pod
    const waiting = pod.state.calls.filter(
      ({ number, kind }) =>
        isMutation(kind) && !executed.has(number) && (frozen !== undefined || held?.call === number),
    )
    const carriedOut = waiting.map((call) => ({
      label: `${name} ${call.kind} ${call.number} executed`,
      run: () => system.call(state, name, call, 'executed'),
    }))
    const thaw = {
      label: `${name} thaws`,
      run: () => changed(state, name, { frozen: undefined, thawed: true }),
    }
    const release = { label: `${name} is released`, run: () => changed(state, name, { held: undefined }) }
    return [
      ...carriedOut,
      ...(frozen !== undefined && state.second - frozen >= FREEZE_S[0] ? [thaw] : []),
      ...(held !== undefined && state.second > held.since ? [release] : []),
    ]
  })
}

function asksOf(system: System, state: State): readonly Action[] {
  const [what] = state.left.asks
  if (what === undefined || (state.left.patient === true && !isQuiet(state))) return []
  const heard = { label: `user ${what}`, run: () => system.ask(state, true) }
  const lost = { label: `user ${what}, no event`, run: () => system.ask(spend(state, 'lostEvents'), false) }
  return state.left.lostEvents > 0 ? [heard, lost] : [heard]
}

/** What was sent before a crash is carried out late; another writer pushes. */
function othersOf(system: System, state: State): readonly Action[] {
  const orphans = state.orphans.map(({ kind }, i) => ({
    label: `late ${kind} ${i}`,
    run: () => system.land(state, i),
  }))
  const other = { label: 'another writer', run: () => withOther(spend(state, 'others')) }
  return state.left.others > 0 ? [...orphans, other] : orphans
}

/**
 * Freezes that are told apart, by their length in seconds: the claim has to be written again, nothing may be sent any
 * more, the claim has lapsed, and much longer. For a call that takes long, its pod may have renewed its claim so often.
 */
const FREEZE_S = [20, 25, 30, 45] as const
const HOLD_S = [10, 20, 30, 40] as const

function timeOf(state: State): readonly Action[] {
  const pods = PODS.map((name) => state.pods[name])
  const marks = pods.flatMap(({ frozen, held }) => [
    ...(frozen === undefined ? [] : [FREEZE_S.map((length) => frozen + length)]),
    ...(held === undefined ? [] : [HOLD_S.map((length) => held.since + length)]),
  ])
  const nextMarks = marks.map((times) => times.find((time) => time > state.second))
  if (nextMarks.includes(undefined)) return []
  const isHeld = pods.some(({ held }) => held !== undefined)
  const due = pods.filter(({ frozen }) => frozen === undefined).map((pod) => dueOf(pod))
  // A pod that is held looks every second whether it has to renew its claim: late is soon enough.
  const next = nextMarks.map((mark) => mark ?? Infinity)
  const to = Math.min(...(isHeld ? next : [...next, ...due]))
  return [{ label: `time passes to ${to}`, run: () => ({ ...state, second: to }) }]
}
