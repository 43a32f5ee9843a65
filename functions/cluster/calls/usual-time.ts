import type { RestClock } from './rest.ts'

/** A call that shows how long such calls take for any owner. Its answer, or its error, is not used. */
export type CallForAnybody = () => Promise<unknown>

/** How long calls take that are not slow. */
export interface UsualTime {
  /** Milliseconds that a call takes at most without being slow. */
  readonly most: () => number
  /** Does a call, and tells how many milliseconds it took. */
  readonly time: <T>(call: () => Promise<T>, tell: (took: number) => void) => Promise<T>
  /**
   * Measures what the server needs for anybody, unless that was done lately, and as long as it is wanted. Returns whether it
   * was measured now.
   */
  readonly measure: (call: CallForAnybody, isWanted: () => boolean) => Promise<boolean>
}

/** Milliseconds that no call has to explain. */
const USUAL_MS = 50
/** Where even the quickest calls take long, so many times as long is usual. */
const TIMES_QUICKEST = 4
/** The same of what the server needs for anybody. */
const TIMES_ANYBODY = 2
/** What is quicker was remembered, and is no call. */
export const CALL_MS = 1
/** By which part of the difference a slower call raises what counts as the quickest. */
const RAISE = 0.01

/** Calls of which the quickest counts: where processors are short, some of them wait for one. */
const MEASURED = 5
/** Tries in which these have to be made. */
const TRIES = 40
/** With more calls under way, it may be these for which the server takes long. */
const CALM = 4
/** Milliseconds until it is tried again. */
const AGAIN_MS = 250
/** Milliseconds from one measurement to the next. */
const EVERY_MS = 5_000
/** Milliseconds for which it counts. */
const KNOWN_MS = 30_000

/**
 * What is usual by the quickest calls, and by calls that are made for nothing but that. The first tell where the server takes as long
 * for everybody. The others tell it where some calls are quick, too: authorisers that are asked over a network take 0.3 s, but
 * remember answers.
 */
export function watchUsualTime({ elapsed, wait }: RestClock): UsualTime {
  let quickest = Infinity
  let underWay = 0
  let isMeasuring = false
  let anybodys = { took: 0, at: -Infinity }

  async function measured(call: CallForAnybody): Promise<number | undefined> {
    const began = elapsed()
    const isAnswered = underWay <= CALM && (await call().then(isTrue, isFalse))
    if (isAnswered && underWay <= CALM) return elapsed() - began
    await wait(AGAIN_MS)
    return undefined
  }

  async function quickestOf(call: CallForAnybody, isWanted: () => boolean): Promise<number | undefined> {
    const times: number[] = []
    for (let tries = 0; tries < TRIES && times.length < MEASURED && isWanted(); tries += 1) {
      const took = await measured(call)
      if (took !== undefined) times.push(took)
    }
    return times.length < MEASURED ? undefined : Math.min(...times)
  }

  return {
    most() {
      const forAnybody = elapsed() - anybodys.at < KNOWN_MS ? anybodys.took : 0
      return Math.max(USUAL_MS, quickest * TIMES_QUICKEST, forAnybody * TIMES_ANYBODY)
    },
    async time(call, tell) {
      const began = elapsed()
      underWay += 1
      try {
        return await call()
      } finally {
        underWay -= 1
        const took = elapsed() - began
        if (took >= CALL_MS) quickest = took < quickest ? took : quickest + (took - quickest) * RAISE
        tell(took)
      }
    },
    async measure(call, isWanted) {
      if (isMeasuring || elapsed() - anybodys.at < EVERY_MS) return false
      isMeasuring = true
      const took = await quickestOf(call, isWanted)
      isMeasuring = false
      if (took !== undefined) anybodys = { took, at: elapsed() }
      return took !== undefined
    },
  }
}

const isTrue = (): boolean => true
const isFalse = (): boolean => false
