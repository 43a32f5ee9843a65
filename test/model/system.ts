import { asked, blobOf, CREATED, resourceOf, type Ask, type Store } from './cluster-store.ts'
import { carryOut, isMutation, nameOf, type Sent } from './outside.ts'
import { LOST, type Call } from './parts/program.ts'
import type { Missing, Pod, PodName, Pods } from './pods.ts'
import { sweepsFrom } from './pods.ts'
import type { RemoteCommit } from './parts/remote-session.ts'

/** How much may go wrong, and what the user does besides creating the resource. */
export interface Bounds {
  readonly asks: readonly Ask[]
  /** A pod is killed; what it had sent may still be carried out, at any later time. */
  readonly crashes: number
  /** A pod of the function stands still for up to 45 s. */
  readonly freezes: number
  /** One call takes up to 45 s, and the rest of its pod goes on. */
  readonly holds: number
  /** A connection breaks: before the request, after it, or while it is carried out later. */
  readonly losses: number
  /** The webhook admits and sends no event. */
  readonly lostEvents: number
  /** An event arrives twice. */
  readonly doubles: number
  /** Another writer pushes to the branch. */
  readonly others: number
  /** The branch holds at the beginning what the second spec asks for. */
  readonly restores?: boolean
  /** The user asks again only where nobody is at work, and also after what has failed was tried again. */
  readonly patient?: boolean
}

/** Everything that there is, as a value. */
export interface State {
  readonly second: number
  readonly store: Store
  /** The branch, from its first commit to its tip. */
  readonly branch: readonly RemoteCommit[]
  /** Sent by those who are gone, and not carried out yet. */
  readonly orphans: readonly Sent[]
  readonly pods: Readonly<Record<PodName, Pod>>
  readonly left: Bounds
  /** Counts names that are made. */
  readonly made: number
}

/** Both parts over their cluster and their remote. */
export interface System {
  /** The resource was just created, and both parts are at rest. */
  readonly begin: (bounds: Bounds) => Begun
  readonly crashed: (state: State, pod: PodName, late: boolean) => State | Missing
  readonly ask: (state: State, isHeard: boolean) => State | Missing
  /** Carries a call out and answers it, or only one of both. */
  readonly call: (state: State, pod: PodName, call: Call, how: How) => State | Missing
  readonly deliver: (state: State, pod: PodName, post: Call | undefined, text: string) => State | Missing
  readonly fire: (state: State, pod: PodName) => State | Missing
  readonly land: (state: State, orphan: number) => State
}

export type Begun = State | Missing

/** `done`: carried out and answered; the others are what goes wrong, or the halves of it. */
export type How = 'done' | 'lost' | 'unsent' | 'late' | 'executed' | 'answered'

/** The branch before the first push: empty, or with what the second spec asks for. */
function firstCommit({ restores = false }: Bounds): RemoteCommit {
  const name = nameOf(0)
  return restores ? { name, id: '', version: 2, blob: blobOf(2, 2) } : { name, id: '', version: 0, blob: '' }
}

/** Makes the system of these pods. */
export function makeSystem(pods: Pods): System {
  function put(state: State, pod: Pod): State {
    return { ...state, pods: { ...state.pods, [pod.name]: pod } }
  }

  /** Gives a pod its next input, and the webhook the answers that follow from it. */
  function give(state: State, pod: Pod, to: Parameters<Pods['give']>[2]): State | Missing {
    const given = pods.give(pod, state.second, to)
    if (typeof given === 'function') return given
    const gone = given.left.filter(({ number, kind }) => isMutation(kind) && !pod.executed.has(number))
    const after = gone.reduce((before, call) => orphaned(before, pod.name, call), put(state, given.pod))
    return given.pod.name === 'w' ? after : answerEvents(after, given.pod)
  }

  function orphaned(state: State, name: PodName, call: Call): State {
    const named = commonText(state, name, call)
    return { ...named.state, orphans: [...named.state.orphans, { kind: call.kind, text: named.text }] }
  }

  function commonText(
    state: State,
    name: PodName,
    call: Call,
  ): { readonly state: State; readonly text: string } {
    let { made } = state
    const { text, pod } = pods.textOf(state.pods[name], call, () => (made += 1))
    return { text, state: { ...put(state, pod), made } }
  }

  function answerEvents(state: State, pod: Pod): State | Missing {
    const [report] = pod.state.reports
    if (report === undefined) return state
    const [, status = ''] = report.split(' ')
    const free = put(state, { ...pod, owner: 0 })
    return pod.owner === 0 ? free : answerPost(free, pod.owner, status)
  }

  function answerPost(state: State, post: number, text: string): State | Missing {
    const { w } = state.pods
    if (!w.state.calls.some(({ number }) => number === post)) return state
    return give(state, w, { to: post, text })
  }

  return {
    begin(bounds) {
      const [f1, f2, w] = [pods.fresh('f1', 0), pods.fresh('f2', 0), pods.fresh('w', 0)]
      if (typeof f1 === 'function') return f1
      if (typeof f2 === 'function') return f2
      if (typeof w === 'function') return w
      // Its first sweep of all was before.
      const swept = { ...w, memory: sweepsFrom(0) }
      const [branch, second, made] = [[firstCommit(bounds)], 0, 1]
      return { second, store: CREATED, branch, orphans: [], pods: { f1, f2, w: swept }, left: bounds, made }
    },
    crashed(state, name, late) {
      const pod = state.pods[name]
      const fresh = pods.fresh(name, state.second)
      if (typeof fresh === 'function') return fresh
      const sent = late
        ? pod.state.calls.filter(({ kind, number }) => isMutation(kind) && !pod.executed.has(number))
        : []
      const named = sent.reduce((before, call) => orphaned(before, name, call), state)
      const gone = put(named, fresh)
      if (name !== 'w') return pod.owner === 0 ? gone : answerPost(gone, pod.owner, LOST)
      const { f1, f2 } = gone.pods
      return { ...gone, pods: { ...gone.pods, f1: { ...f1, owner: 0 }, f2: { ...f2, owner: 0 } } }
    },
    ask(state, isHeard) {
      const [what = 'spec', ...asks] = state.left.asks
      const store = asked(state.store, what, state.branch.at(-1)?.version ?? 0)
      const after = { ...state, store, left: { ...state.left, asks } }
      return isHeard
        ? give(after, after.pods.w, { to: 'program', text: JSON.stringify(resourceOf(store)) })
        : after
    },
    call(state, name, call, how) {
      if (how === 'unsent') return give(state, state.pods[name], { to: call.number, text: LOST })
      const named = commonText(state, name, call)
      const pod = named.state.pods[name]
      if (how === 'late') {
        const later = {
          ...named.state,
          orphans: [...named.state.orphans, { kind: call.kind, text: named.text }],
        }
        return give(later, pod, { to: call.number, text: LOST })
      }
      const known = pod.executed.get(call.number)
      const done =
        known === undefined ? carryOut(named.state, { kind: call.kind, text: named.text }) : undefined
      const after = done?.state ?? named.state
      const text = known ?? done?.answer ?? ''
      if (how === 'executed') {
        const executed = new Map([...pod.executed, [call.number, text]])
        return put(after, { ...pod, executed })
      }
      return give(after, pod, { to: call.number, text: how === 'lost' ? LOST : text })
    },
    deliver(state, name, post, text) {
      const owned = put(state, { ...state.pods[name], owner: post?.number ?? 0 })
      return give(owned, owned.pods[name], { to: 'program', text })
    },
    fire(state, name) {
      const pod = state.pods[name]
      const looks = name === 'w' && dueOf(pod, 'looksAt') <= state.second
      return give(
        state,
        { ...pod, thawed: false },
        { to: 'timers', text: looks ? JSON.stringify(resourceOf(state.store)) : '' },
      )
    },
    land(state, number) {
      const orphan = state.orphans[number]
      const orphans = state.orphans.filter((_, i) => i !== number)
      return orphan === undefined ? state : carryOut({ ...state, orphans }, orphan).state
    },
  }
}

/** The second at which a pod has to do something by itself. */
export function dueOf({ state, memory, names, name }: Pod, which: 'due' | 'looksAt' = 'due'): number {
  if (memory === undefined) return Math.ceil(state[which] / 1000) + names.epoch
  if (name !== 'w') return Infinity
  const { unsettled, full }: Readonly<Record<'unsettled' | 'full', number>> = JSON.parse(memory)
  return Math.ceil(Math.min(unsettled, full) / 1000)
}
