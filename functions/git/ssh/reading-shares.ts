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

const MIB = 1024 * 1024
/** What a namespace may read at once, and gets back in a second, before it has read much: commits need far less. */
const LITTLE = 2 * MIB
const LITTLE_PER_SECOND = MIB / 2
/** What those that have read much may read together in a second, and at once. A MiB takes some 8 ms of the processor. */
const TOGETHER_PER_SECOND = 16 * MIB
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
 * that alone has read much, reads whatever its servers send. Several that have read much share 16 MiB a second: next is the one
 * that has read the least.
 */
export function shareReading({ elapsed, later }: ReadingClock = CLOCK): LetRead {
  const own = makeAllowances(LITTLE, LITTLE_PER_SECOND, elapsed)
  const together = makeAllowance(TOGETHER, TOGETHER_PER_SECOND, elapsed)
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
    later(letNext, Math.max(1, (-together.left() * 1_000) / TOGETHER_PER_SECOND))
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
    if (isLittle || isAlone(namespace)) {
      together.spend(Math.min(bytes, TOGETHER + together.left()))
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
