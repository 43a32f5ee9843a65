import { Failure } from '../../functions/domain/failure.ts'
import { cpuTime } from './cpu-time.ts'
import { isCounted } from './sample.ts'

/** Work on one input, ready to run: making the input is not measured. */
export type Work = () => unknown

/** One kind of input by its size. */
export type Shape = (size: number) => Work

/** Milliseconds of CPU for an input of a size and for one that is 16 times smaller, which is 0 if it was not measured. */
export interface Growth {
  readonly small: number
  readonly large: number
}

const FACTOR = 16
/** Loops over bytes were up to eight times as slow where lines are counted. */
const COUNTED_FACTOR = 8
/** Further runs of work that has taken so long would only cost time. */
const LONG_MS = 10
const RUNS = 2
const FLOOR_MS = 5
/** Measured again so often if the growth is too large: the garbage collector may have run. */
const TRIES = 4

/** What a test allows work that may take so long: ten times as much, for a busy machine, and more where lines are counted. */
export function allowedMs(promisedMs: number): number {
  return 10 * promisedMs * (isCounted() ? COUNTED_FACTOR : 1)
}

/** The least CPU time of a few runs, each with an input of its own. Throws what is not a refusal: a parser's bug. */
export function costOf(shape: Shape, size: number): number {
  let least = Infinity
  for (let run = 0; run < RUNS; run += 1) {
    const work = shape(size)
    const before = cpuTime()
    try {
      work()
    } catch (error) {
      // A refusal costs time as well.
      if (!(error instanceof Failure)) throw error
    }
    least = Math.min(least, cpuTime() - before)
    if (least > LONG_MS || least < FLOOR_MS) break
  }
  return least
}

/** The cost at this size and at a sixteenth of it, of the try in which they are nearly linear, if there is one. */
export function growthOf(shape: Shape, size: number): Growth {
  let growth = { small: 0, large: costOf(shape, size) }
  for (let tries = 0; tries < TRIES && !isNearlyLinear(growth); tries += 1)
    growth = { small: costOf(shape, Math.ceil(size / FACTOR)), large: costOf(shape, size) }
  return growth
}

/**
 * Whether 16 times the input takes at most 64 times as long, four times what is linear; quadratic work takes 256 times
 * as long. Below 5 ms the garbage collector and the compiler take more than the work itself.
 */
export function isNearlyLinear({ small, large }: Growth): boolean {
  return large <= Math.max(4 * FACTOR * small, FLOOR_MS)
}
