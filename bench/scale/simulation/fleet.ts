import type { Clock } from './clock.ts'
import { makeAutoscaler, TICK_S, type Scaling } from './autoscaler.ts'
import type { Pod } from './pod.ts'
import type { Send } from './sender.ts'
import type { Commit } from './world.ts'

/** How the pods start. */
export interface FleetSettings {
  readonly scaling: Scaling
  /** From the decision to the first answer of a probe. */
  readonly startMs: number
}

/** The pods behind one address, as many as the autoscaler wants. */
export interface Fleet {
  readonly send: Send
  readonly mostPods: () => number
  /** Seconds of pods: two pods for three seconds are six. */
  readonly podSeconds: () => number
}

interface Outside {
  readonly clock: Clock
  readonly random: () => number
  readonly makePod: () => Pod
}

interface Held {
  readonly commit: Commit
  readonly answered: () => void
}

/**
 * Knative's activator and autoscaler. Without a pod that is ready, requests wait. Of two pods that are drawn, the one
 * with fewer requests in flight gets the next, as for `containerConcurrency: 0`. The first request of all starts a pod
 * at once; a pod that is no longer wanted ends with its last request.
 */
export function makeFleet({ clock, random, makePod }: Outside, { scaling, startMs }: FleetSettings): Fleet {
  const autoscaler = makeAutoscaler(scaling)
  const held: Held[] = []
  let ready: Pod[] = Array.from({ length: scaling.minScale }, makePod)
  let starting = 0
  let inFlight = 0
  let mostPods = ready.length
  let podSeconds = 0
  let second = 0

  function send(commit: Commit, answered: () => void): void {
    inFlight += 1
    if (ready.length + starting === 0) scaleTo(1)
    pass({
      commit,
      answered() {
        inFlight -= 1
        answered()
      },
    })
  }

  function pass(request: Held): void {
    const draw = (): Pod | undefined => ready[Math.floor(random() * ready.length)]
    const [one, other] = [draw(), draw()]
    if (one === undefined || other === undefined) held.push(request)
    else (one.inFlight() <= other.inFlight() ? one : other).handle(request.commit, request.answered)
  }

  function scaleTo(wanted: number): void {
    if (wanted < ready.length) ready = ready.slice(0, wanted)
    while (ready.length + starting < wanted) start()
    mostPods = Math.max(mostPods, ready.length + starting)
  }

  function start(): void {
    starting += 1
    clock.after(startMs, () => {
      starting -= 1
      ready.push(makePod())
      for (const request of held.splice(0)) pass(request)
    })
  }

  function everySecond(): void {
    autoscaler.record(inFlight)
    second += 1
    podSeconds += ready.length + starting
    if (second % TICK_S === 0) scaleTo(autoscaler.decide(ready.length))
    clock.after(1_000, everySecond)
  }

  clock.after(1_000, everySecond)
  return { send, mostPods: () => mostPods, podSeconds: () => podSeconds }
}
