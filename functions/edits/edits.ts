import { editSteps, isReadAtOnce, type TextEdit } from '../domain/edit/edit-text.ts'
import type { Release } from '../domain/network/budget.ts'
import { startEditThread, tooMuchMemory, tooSlow, type EditThread } from './edit-thread.ts'
import { openFairTurns, TURN_MS } from '../fair-turns.ts'

/** For whom a file is edited, and until when. */
export interface EditOwner {
  readonly namespace: string
  readonly signal: AbortSignal
}

/**
 * Sets fields of a file, as `editText` does, without holding the event loop for longer than 100 ms.
 * @throws Failure also Timeout after 30 s, or 10 s if others wait; NotSupported where it takes too much memory, Conflict where the pod has none
 */
export type EditFile = (before: Uint8Array, edit: TextEdit, owner: EditOwner) => Promise<Uint8Array>

/** What edits of files draw on. */
export interface EditParts {
  /** Waits until the pod has this memory for a thread. Throws Conflict if the signal fires. */
  readonly acquire: (memoryMiB: number, owner: EditOwner) => Promise<Release>
  /** The most that a thread may take. */
  readonly mostMiB: number
  /** The shares of the namespaces in the thread that answers requests. */
  readonly share: ThreadShare
  readonly start?: (heapMiB: number) => EditThread
  /** How long an edit in a thread may take in milliseconds while another namespace waits. */
  readonly turnMs?: number
}

/** What of attempt/turns/thread-share.ts is used here. */
interface ThreadShare {
  /** Works once the namespace may. Throws Timeout if the signal fires before. */
  readonly workFor: <T>(namespace: string, work: () => T, signal: AbortSignal) => Promise<T>
  /** Whether the namespace would have to wait. */
  readonly isSpent: (namespace: string) => boolean
}

export interface Edits {
  readonly edit: EditFile
  /** Ends the thread. */
  readonly close: () => Promise<void>
}

/** The most heap that the edit of a file of 2 MiB is given; real files of that size need 190 MiB. */
const LARGEST_HEAP_MIB = 240
/** Heap that is tried first for files of this size: enough for most of them. */
const FIRST_HEAP_MIB = 64
const FIRST_BYTES = 256 * 1024
/** What a thread takes besides its heap. */
const BESIDES_MIB = 24
/** How long it waits for memory: whoever has it may wait for this edit. */
const MEMORY_MS = 30_000
/** How long a thread that nobody uses is kept: it takes 50 ms to start. */
const KEEP_MS = 1_000

/** The most that a thread takes of the pod, in MiB. */
export const MOST_EDIT_MIB = LARGEST_HEAP_MIB + BESIDES_MIB

interface Kept {
  readonly thread: EditThread
  readonly release: Release
  timer: NodeJS.Timeout | undefined
}

/**
 * Small files are edited at once while their namespace has a share of this thread; every other in a thread, one at a time in
 * a pod, and namespaces take turns. The thread gets little memory first, and more where that does not suffice.
 */
export function openEdits(parts: EditParts): Edits {
  const { acquire, mostMiB, share, start = startEditThread, turnMs = TURN_MS } = parts
  const inTurn = openFairTurns(turnMs)
  const largest = Math.min(LARGEST_HEAP_MIB, mostMiB - BESIDES_MIB)
  const heaps = [FIRST_HEAP_MIB, largest].filter((heapMiB) => heapMiB <= largest)
  let kept: Kept | undefined

  async function drop(): Promise<void> {
    const dropped = kept
    kept = undefined
    if (dropped === undefined) return
    clearTimeout(dropped.timer)
    await dropped.thread.end()
    dropped.release()
  }

  async function threadOf(heapMiB: number, owner: EditOwner): Promise<Kept> {
    if (kept !== undefined && !kept.thread.isEnding() && kept.thread.heapMiB >= heapMiB) {
      clearTimeout(kept.timer)
      return kept
    }
    await drop()
    const patience = AbortSignal.any([owner.signal, AbortSignal.timeout(MEMORY_MS)])
    const release = await acquire(heapMiB + BESIDES_MIB, { ...owner, signal: patience })
    kept = { thread: start(heapMiB), release, timer: undefined }
    return kept
  }

  async function runIn(used: Kept, before: Uint8Array, edit: TextEdit, { signal }: EditOwner) {
    try {
      return await used.thread.run(before, edit, signal)
    } finally {
      if (used.thread.isEnding()) await drop()
      else used.timer = setTimeout(() => void drop(), KEEP_MS).unref()
    }
  }

  async function editInThread(before: Uint8Array, edit: TextEdit, owner: EditOwner): Promise<Uint8Array> {
    for (const heapMiB of before.length > FIRST_BYTES ? [largest] : heaps) {
      const used = await threadOf(heapMiB, owner)
      const after = await runIn(used, before, edit, owner)
      if (after !== 'memory') return after
    }
    throw tooMuchMemory(edit.filePath)
  }

  return {
    async edit(before, edit, owner) {
      const after = await editAtOnce(before, edit, { owner, share })
      if (after !== undefined) return after
      return inTurn(owner.namespace, owner.signal, async (othersWait) => {
        const signal = AbortSignal.any([owner.signal, othersWait])
        return editInThread(before, edit, { ...owner, signal }).catch((error: unknown) => {
          throw error === othersWait.reason ? tooSlow(edit.filePath, turnMs) : error
        })
      })
    },
    close: drop,
  }
}

/**
 * Undefined if it would read too much at a time, or the namespace has used its share: a hundred files of one commit take
 * seconds. Each step takes a while, and others wait.
 */
async function editAtOnce(
  before: Uint8Array,
  edit: TextEdit,
  { owner: { namespace, signal }, share }: { readonly owner: EditOwner; readonly share: ThreadShare },
): Promise<Uint8Array | undefined> {
  const steps = editSteps(before, edit)
  for (;;) {
    if (share.isSpent(namespace)) return undefined
    const { done, value } = await share.workFor(namespace, () => steps.next(), signal)
    if (done === true) return value
    if (!isReadAtOnce(edit, value)) return undefined
  }
}
