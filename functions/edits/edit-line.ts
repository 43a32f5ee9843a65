import { anySignal } from '../domain/deadline.ts'
import type { TextEdit } from '../domain/edit/edit-text.ts'
import type { Release } from '../domain/network/budget.ts'
import { countExcess, type Counting } from '../domain/sharing/taken-time.ts'
import { openFairTurns } from '../fair-turns.ts'
import type { EditThread } from './edit-thread.ts'

/** For whom a file is edited, and until when. */
export interface EditOwner {
  readonly namespace: string
  readonly signal: AbortSignal
}

/** Edits in a thread, one after the other. */
export interface EditLine {
  /**
   * `weight`: that of file and values, in bytes. `memory`: the thread has too little for this edit. `turn`: its turn was long,
   * and another namespace waited.
   * @throws Failure also Timeout after 30 s, and Conflict where the pod has no memory for the thread
   */
  readonly edit: (
    before: Uint8Array,
    edit: TextEdit,
    owner: EditOwner,
    weight: number,
  ) => Promise<Uint8Array | Unmade>
  /** Ends the thread, once no edit is being made. */
  readonly close: () => Promise<void>
}

/** Why the thread has not made an edit. */
export type Unmade = 'memory' | 'turn'

/** What a line draws on. */
export interface EditLineParts {
  /** Waits until the pod has this memory for a thread. Throws Conflict if the signal fires. */
  readonly acquire: (memoryMiB: number, owner: EditOwner) => Promise<Release>
  /** Whether another thread waits for memory. */
  readonly isScarce: () => boolean
  readonly start: (heapMiB: number) => EditThread
  readonly heapMiB: number
  /** How long an edit may take in milliseconds while another namespace waits. */
  readonly turnMs: number
}

/** What a thread takes besides its heap. */
export const BESIDES_MIB = 24
/** How long it waits for memory: whoever has it may wait for this edit. */
const MEMORY_MS = 30_000
/**
 * Edits are rare: a part of a hundredth of the time does not count, and ten namespaces that take all of it are known by more. Who
 * has edited much lately waits for no more than ten seconds of each that has not.
 */
const COUNTED: Counting = { perSecond: 10, same: 250, most: 10_000 }
/** What a byte of YAML takes, in milliseconds; what it has taken counts in the end. */
const MS_PER_BYTE = 3 / 1024
/** How long a thread that nobody uses is kept: it takes 50 ms to start. */
const KEEP_MS = 1_000

interface Kept {
  readonly thread: EditThread
  readonly release: Release
  timer: NodeJS.Timeout | undefined
}

/**
 * Next is the namespace that has taken the least, with what its edit is likely to take: one that edits now and then waits for one
 * edit of those that always do, and what is small for one that is large, however many have just come with those.
 */
export function openEditLine({ acquire, isScarce, start, heapMiB, turnMs }: EditLineParts): EditLine {
  const elapsed = (): number => performance.now()
  const inTurn = openFairTurns(turnMs, elapsed, countExcess(COUNTED, elapsed))
  let kept: Kept | undefined
  let [isBusy, isClosed] = [false, false]

  async function drop(): Promise<void> {
    const dropped = kept
    kept = undefined
    if (dropped === undefined) return
    clearTimeout(dropped.timer)
    await dropped.thread.end()
    dropped.release()
  }

  async function openThread(owner: EditOwner): Promise<Kept> {
    if (kept !== undefined && !kept.thread.isEnding()) {
      clearTimeout(kept.timer)
      return kept
    }
    await drop()
    const patience = anySignal([owner.signal, AbortSignal.timeout(MEMORY_MS)])
    const release = await acquire(heapMiB + BESIDES_MIB, { ...owner, signal: patience })
    try {
      kept = { thread: start(heapMiB), release, timer: undefined }
      return kept
    } catch (error) {
      // Where the pod may have no more threads.
      release()
      throw error
    }
  }

  async function runIn(used: Kept, before: Uint8Array, edit: TextEdit, signal: AbortSignal) {
    try {
      return await used.thread.run(before, edit, signal)
    } finally {
      // Those who always have edits here would keep it from the others.
      if (used.thread.isEnding() || isScarce() || isClosed) await drop()
      else used.timer = setTimeout(() => void drop(), KEEP_MS).unref()
    }
  }

  async function make(before: Uint8Array, edit: TextEdit, owner: EditOwner, othersWait: AbortSignal) {
    const signal = anySignal([owner.signal, othersWait])
    let used: Kept | undefined
    isBusy = true
    try {
      used = await openThread({ ...owner, signal })
      return await runIn(used, before, edit, signal)
    } catch (error) {
      const hadNoMemory = used === undefined && othersWait.aborted && !owner.signal.aborted
      if (hadNoMemory || error === othersWait.reason) return 'turn'
      throw error
    } finally {
      isBusy = false
    }
  }

  return {
    edit(before, edit, owner, weight) {
      const { namespace, signal } = owner
      const work = (othersWait: AbortSignal) => make(before, edit, owner, othersWait)
      return inTurn(namespace, signal, work, weight * MS_PER_BYTE)
    },
    async close() {
      isClosed = true
      // While the program ends, attempts go on.
      if (!isBusy) await drop()
    },
  }
}
