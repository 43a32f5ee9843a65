import { editSteps, editWeight, isReadAtOnce, type TextEdit } from '../domain/edit/edit-text.ts'
import { TURN_MS } from '../fair-turns.ts'
import { BESIDES_MIB, openEditLine, type EditLineParts, type EditOwner } from './edit-line.ts'
import { startEditThread, tooMuchMemory, tooSlow } from './edit-thread.ts'

/**
 * Sets fields of a file, as `editText` does, without holding the event loop for longer than 100 ms.
 * @throws Failure also Timeout after 30 s, or 10 s if others wait; NotSupported where it takes too much memory, Conflict where the pod has none
 */
export type EditFile = (before: Uint8Array, edit: TextEdit, owner: EditOwner) => Promise<Uint8Array>

/** What edits of files draw on. */
export interface EditParts extends Pick<EditLineParts, 'acquire'>, Partial<Pick<EditLineParts, 'start'>> {
  /** The most that a thread may take. */
  readonly mostMiB: number
  /** The shares of the namespaces in the thread that answers requests. */
  readonly share: ThreadShare
  /** How long an edit may take in milliseconds while another namespace waits; `quick`: in the thread for what needs little. */
  readonly turnMs?: number
  readonly quickMs?: number
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
  /** Ends the threads. */
  readonly close: () => Promise<void>
}

/** The most heap that the edit of a file of 2 MiB is given; real files of that size need 190 MiB. */
const LARGEST_HEAP_MIB = 240
/** Heap of the thread for files that weigh no more than this, with the values: enough for most of them. */
const QUICK_HEAP_MIB = 64
const QUICK_WEIGHT = 128 * 1024
/** How long a turn of that thread is: twice what so much YAML takes, whatever it holds. */
const QUICK_MS = 2_000

/** The most that a thread takes of the pod, in MiB. */
export const MOST_EDIT_MIB = LARGEST_HEAP_MIB + BESIDES_MIB

/**
 * Small files are edited at once while their namespace has a share of this thread; every other in one of two threads of a pod, one
 * at a time in each. One has little memory and short turns, so that what needs little waits for nothing that takes long; what
 * needs more, and files that are large, are left to the other one.
 */
export function openEdits(parts: EditParts): Edits {
  const { acquire, mostMiB, share, start = startEditThread, turnMs = TURN_MS, quickMs = QUICK_MS } = parts
  const largest = Math.min(LARGEST_HEAP_MIB, mostMiB - BESIDES_MIB)
  const heapMiB = Math.min(QUICK_HEAP_MIB, largest)
  const quick = openEditLine({ acquire, start, heapMiB, turnMs: quickMs })
  const slow = openEditLine({ acquire, start, heapMiB: largest, turnMs })

  async function editInThread(before: Uint8Array, edit: TextEdit, owner: EditOwner): Promise<Uint8Array> {
    const weight = editWeight(before, edit)
    const soon = weight <= QUICK_WEIGHT ? await quick.edit(before, edit, owner, weight) : 'memory'
    if (soon instanceof Uint8Array) return soon
    const after = await slow.edit(before, edit, owner, weight)
    if (after === 'turn') throw tooSlow(edit.filePath, turnMs)
    if (after === 'memory') throw tooMuchMemory(edit.filePath)
    return after
  }

  return {
    edit: async (before, edit, owner) =>
      (await editAtOnce(before, edit, { owner, share })) ?? (await editInThread(before, edit, owner)),
    async close() {
      await Promise.all([quick.close(), slow.close()])
    },
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
