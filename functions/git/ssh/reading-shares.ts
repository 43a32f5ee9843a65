import { makeAllowance } from '../../domain/sharing/allowance.ts'
import { makeAllowances } from '../../domain/sharing/allowances.ts'
import { makeRounds } from '../../domain/sharing/rounds.ts'

/** Told of bytes of the namespace's servers that were read: calls `goOn` when as many more may come. */
export type LetRead = (namespace: string, bytes: number, goOn: () => void) => void

/** What a test replaces. */
export interface ReadingClock {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  readonly later: (work: () => void, milliseconds: number) => void
}

/** Who reads without waiting. */
export interface ReadingBounds {
  /** What a namespace may read at once, and gets back in a second, before it has read much. */
  readonly little: number
  readonly littlePerSecond: number
  /** What those that have read much may read together in a second. */
  readonly togetherPerSecond: number
  /** Whether a namespace that has read much waits for nothing while no other one has. */
  readonly isAloneFree: boolean
}

const MIB = 1024 * 1024
/** The data of programs: commits need far less. A MiB takes some 30 ms of the processor. */
const DATA: ReadingBounds = {
  little: 2 * MIB,
  littlePerSecond: MIB / 2,
  togetherPerSecond: 16 * MIB,
  isAloneFree: true,
}
/**
 * What packets cost that have little data or none, each up to 4 KiB of it (traffic-guard.ts): 4,096 of them at once and 128 a
 * second, and 2,048 a second of all that send more. Where hooks write many lines, or there are many branches, honest servers
 * send some thousand.
 */
export const SMALL_PACKETS: ReadingBounds = {
  little: 16 * MIB,
  littlePerSecond: MIB / 2,
  togetherPerSecond: 8 * MIB,
  isAloneFree: false,
}
/** What those that have read much may read together at once. */
const TOGETHER = MIB / 4
/** Who differs by less has read about as much. */
const SAME = 4 * MIB
/** The most that is remembered. */
const REMEMBERED = 64 * MIB
/** Who has read within so many milliseconds reads. */
const READS_MS = 1_000

const CLOCK: ReadingClock = {
  elapsed: () => performance.now(),
  later: (work, milliseconds) => void setTimeout(work, milliseconds).unref(),
}

/**
 * Shares what is read from SSH servers, which costs time of the processor in several threads. A namespace that has read little, or
 * that alone has read much where this is free, reads whatever its servers send. Those that have read much share what
 * they may read together: next is the one that has read the least.
 */
export function shareReading(
  { little, littlePerSecond, togetherPerSecond, isAloneFree }: ReadingBounds = DATA,
  { elapsed, later }: ReadingClock = CLOCK,
): LetRead {
  const own = makeAllowances(little, littlePerSecond, elapsed)
  const together = makeAllowance(TOGETHER, togetherPerSecond, elapsed)
  const waiting = makeRounds<() => void>((namespace) => Math.floor(-own.of(namespace).left() / SAME))
  /** When those that have read much have last read. */
  const lastRead = new Map<string, number>()
  let isWatching = false

  function reads(namespace: string): boolean {
    return waiting.has(namespace) || elapsed() - (lastRead.get(namespace) ?? -Infinity) < READS_MS
  }

  function isAlone(namespace: string): boolean {
    for (const other of lastRead.keys()) if (!reads(other)) lastRead.delete(other)
    return [...lastRead.keys()].every((other) => other === namespace)
  }

  function watch(): void {
    if (isWatching || waiting.isEmpty()) return
    isWatching = true
    later(letNext, Math.max(1, (-together.left() * 1_000) / togetherPerSecond))
  }

  function letNext(): void {
    isWatching = false
    while (together.left() >= 0 && !waiting.isEmpty()) waiting.next()?.()
    watch()
  }

  return function letRead(namespace, bytes, goOn) {
    const share = own.of(namespace)
    share.spend(Math.min(bytes, REMEMBERED + share.left()))
    const isLittle = share.left() >= 0
    if (!isLittle) lastRead.set(namespace, elapsed())
    // Not of what those share that have read much: many that read little would leave them nothing.
    if (isLittle || (isAloneFree && isAlone(namespace))) {
      goOn()
      return
    }
    waiting.add(namespace, () => {
      together.spend(bytes)
      goOn()
    })
    watch()
  }
}
