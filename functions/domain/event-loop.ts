/** One measurement of perf_hooks' `monitorEventLoopDelay`, in nanoseconds. */
export interface DelayHistogram {
  readonly max: number
  readonly mean: number
  percentile(percentile: number): number
  enable(): boolean
  reset(): void
}

/** `monitorEventLoopDelay` of node:perf_hooks; `resolution` in milliseconds. */
export type MonitorDelay = (options: { readonly resolution: number }) => DelayHistogram

/** How late the event loop was, in milliseconds. */
export interface LoopFigures {
  readonly mean: number
  readonly p99: number
  readonly max: number
}

/** The event loop stood still. */
export interface Stall {
  readonly milliseconds: number
  /** What was in hand then, the first ten. */
  readonly inHand: readonly string[]
  /** How much was in hand. */
  readonly count: number
}

/** Watches the event loop. */
export interface LoopWatch {
  /** Called every LOOK_MS: reports a stall since the last look. */
  readonly look: () => void
  /** Figures since the last call. */
  readonly figures: () => LoopFigures
}

/** Interval of `look`. */
export const LOOK_MS = 250
/** What strangers send never holds the event loop for longer. */
const LONGEST_MS = 100
const RESOLUTION_MS = 10
const MOST_NAMES = 10

/**
 * Measures all the time how late the event loop is. `inHand` names what is in hand: what was, or is, at one of two looks
 * may have caused the stall between them.
 */
export function watchEventLoop(
  monitor: MonitorDelay,
  inHand: () => readonly string[],
  report: (stall: Stall) => void,
): LoopWatch {
  const [recent, whole] = [started(monitor), started(monitor)]
  let before: readonly string[] = []
  return {
    look() {
      const now = inHand()
      const milliseconds = lateBy(recent.max)
      const held = [...before, ...now]
      before = now
      if (milliseconds <= LONGEST_MS) return
      // Only now: a reset also forgets the last tick, and with it a stall that was not measured yet.
      recent.reset()
      report(stallOf(milliseconds, held))
    },
    figures() {
      const { mean, max } = whole
      const figures = { mean: lateBy(mean), p99: lateBy(whole.percentile(99)), max: lateBy(max) }
      whole.reset()
      return figures
    },
  }
}

function started(monitor: MonitorDelay): DelayHistogram {
  const histogram = monitor({ resolution: RESOLUTION_MS })
  histogram.enable()
  return histogram
}

function stallOf(milliseconds: number, names: readonly string[]): Stall {
  const all = [...new Set(names)]
  return { milliseconds, inHand: all.slice(0, MOST_NAMES), count: all.length }
}

// Measured from one tick to the next; without any tick the mean is not a number.
function lateBy(nanoseconds: number): number {
  return Math.max(0, Math.round(nanoseconds / 1e6 - RESOLUTION_MS)) || 0
}
