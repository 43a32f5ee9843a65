import { editSteps, editWeight, isReadAtOnce, type TextEdit } from '../domain/edit/edit-text.ts'
import { TURN_MS } from '../fair-turns.ts'
import { BESIDES_MIB, openEditLine, type EditLineParts, type EditOwner, type Unmade } from './edit-line.ts'
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
  /** How long an edit may take in milliseconds while another namespace waits, in each thread of THREADS. */
  readonly turnsMs?: readonly number[]
}

/** What of attempt/turns/thread/thread-share.ts is used here. */
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

/**
 * The threads of a pod: heap for most files that weigh no more than this, with the values, and turns of at least twice what so
 * much YAML takes, whatever it holds.
 */
const THREADS = [
  { mostWeight: 128 * 1024, heapMiB: 64, turnMs: 2_000 },
  { mostWeight: 512 * 1024, heapMiB: 128, turnMs: 4_000 },
  { mostWeight: Infinity, heapMiB: LARGEST_HEAP_MIB, turnMs: TURN_MS },
] as const

/** How many there may be at once: one for each line. */
export const EDIT_THREADS = THREADS.length

/** The most that a thread takes of the pod, in MiB. */
export const MOST_EDIT_MIB = LARGEST_HEAP_MIB + BESIDES_MIB

/**
 * Small files are edited at once while their namespace has a share of this thread; every other in one of three threads of a pod, one
 * at a time in each. The first two have less memory and shorter turns, so that what needs little waits for nothing that takes long;
 * what needs more than one of them has, and files that are larger, are left to the next.
 */
export function openEdits(parts: EditParts): Edits {
  const { acquire, mostMiB, share, start = startEditThread, turnsMs = [] } = parts
  const largest = mostMiB - BESIDES_MIB
  let waiting = 0
  const acquireNext: typeof acquire = (memoryMiB, owner) => {
    waiting += 1
    return acquire(memoryMiB, owner).finally(() => (waiting -= 1))
  }
  const isScarce = (): boolean => waiting > 0
  const lines = THREADS.map(({ mostWeight, heapMiB, turnMs }, i) => {
    const bounds = { heapMiB: Math.min(heapMiB, largest), turnMs: turnsMs[i] ?? turnMs }
    return {
      ...openEditLine({ acquire: acquireNext, isScarce, start, ...bounds }),
      mostWeight,
      turnMs: bounds.turnMs,
    }
  })

  async function editInThread(before: Uint8Array, edit: TextEdit, owner: EditOwner): Promise<Uint8Array> {
    const weight = editWeight(before, edit)
    let last: { readonly unmade: Unmade; readonly turnMs: number } | undefined
    for (const line of lines.filter(({ mostWeight }) => weight <= mostWeight)) {
      const after = await line.edit(before, edit, owner, weight)
      if (after instanceof Uint8Array) return after
      last = { unmade: after, turnMs: line.turnMs }
    }
    throw last?.unmade === 'turn' ? tooSlow(edit.filePath, last.turnMs) : tooMuchMemory(edit.filePath)
  }

  return {
    edit: async (before, edit, owner) =>
      (await editAtOnce(before, edit, { owner, share })) ?? (await editInThread(before, edit, owner)),
    async close() {
      await Promise.all(lines.map((line) => line.close()))
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
