/** Settings of Knative's pod autoscaler for one revision; its defaults are in the ConfigMap config-autoscaler. */
export interface Scaling {
  /** Annotation `target`: requests in flight for each pod. */
  readonly target: number
  readonly minScale: number
  readonly maxScale: number
}

/** Of `target`, in percent: a pod is asked to take 70. */
const UTILIZATION = 0.7
export const WINDOW_S = 60
const PANIC_WINDOW_S = 6
const PANIC_THRESHOLD = 2
const SCALE_DOWN_RATE = 2
/** Seconds between two decisions. */
export const TICK_S = 2

/** Decides how many pods there should be. */
export interface Autoscaler {
  /** Records the requests in flight; once a second. */
  readonly record: (inFlight: number) => void
  /** Called every TICK_S seconds with the number of pods that are ready. */
  readonly decide: (ready: number) => number
}

/**
 * Knative's pod autoscaler for the metric `concurrency`, as its source computes it (pkg/autoscaler/scaling of
 * knative/serving): averages over the stable window and over the panic window, each over the time since the first
 * request if that is shorter. In panic mode the number of pods only grows.
 */
export function makeAutoscaler(scaling: Scaling): Autoscaler {
  const perPod = scaling.target * UTILIZATION
  let samples: number[] = []
  let second = 0
  let panickedAt: number | undefined
  let mostInPanic = 0
  /** The last second with a request. */
  let busyAt = -Infinity

  function record(inFlight: number): void {
    second += 1
    if (inFlight > 0) busyAt = second
    // Without traffic for longer than the window, the averages begin again with the next request.
    samples = second - busyAt > WINDOW_S ? [] : [...samples, inFlight].slice(-WINDOW_S)
  }

  function decide(ready: number): number {
    const pods = Math.max(1, ready)
    const least = Math.floor(pods / SCALE_DOWN_RATE)
    const stable = Math.max(Math.ceil(mean(samples) / perPod), least, samples.length > 0 ? 1 : 0)
    const panic = Math.ceil(mean(samples.slice(-PANIC_WINDOW_S)) / perPod)
    if (panic / pods >= PANIC_THRESHOLD) panickedAt = second
    else if (panickedAt !== undefined && panickedAt + WINDOW_S < second) panickedAt = undefined
    if (panickedAt === undefined) mostInPanic = 0
    else mostInPanic = Math.max(mostInPanic, stable, panic)
    return bounded(Math.max(stable, mostInPanic))
  }

  function bounded(pods: number): number {
    return Math.min(scaling.maxScale, Math.max(scaling.minScale, pods))
  }

  return { record, decide }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
