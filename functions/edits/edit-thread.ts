import type { TextEdit } from '../domain/edit/edit-text.ts'
import { EDIT_LIMIT, refusalsOf } from '../domain/edit/refusal.ts'
import { Failure } from '../domain/failure.ts'
import { isOutOfMemory, startProgramThread } from '../git/ssh/threads/program-thread.ts'
import type { EditAnswer, EditRequest } from './main.ts'
import { WORKER_TEXT } from './worker-text.ts'

/** A thread that makes edits, one after the other, and can be ended at any time. */
export interface EditThread {
  /**
   * Makes an edit. `memory`: its heap was too small, and the thread has ended. It also ends when the signal fires, and
   * after the time limit.
   * @throws Failure what the edit throws; Timeout after the time limit; the signal's reason
   */
  readonly run: (before: Uint8Array, edit: TextEdit, signal: AbortSignal) => Promise<Uint8Array | 'memory'>
  readonly isEnding: () => boolean
  /** Resolves when it has ended and its memory is free. */
  readonly end: () => Promise<void>
}

/** How long one edit may take in milliseconds. One of the largest file takes 5 s of a whole processor. */
export const EDIT_MS = 30_000

const PROGRAM = { text: WORKER_TEXT, source: () => new URL('./main.ts', import.meta.url) }

/** Starts a thread. It keeps the process alive only while it makes an edit. */
export function startEditThread(heapMiB: number, editMs: number = EDIT_MS): EditThread {
  const worker = startProgramThread(PROGRAM, heapMiB)
  let hear: (ending: Ending) => void = noop
  let isEnding = false
  worker.unref()
  worker.on('message', (answer: EditAnswer) => hear({ answer }))
  worker.on('error', (error: unknown) => stop(error))
  worker.on('exit', () => stop(new Error('The thread of an edit has ended')))

  function stop(error: unknown): void {
    isEnding = true
    hear({ error })
  }

  async function end(): Promise<void> {
    isEnding = true
    await worker.terminate()
  }

  async function ask(request: EditRequest, signal: AbortSignal): Promise<Ending> {
    const { promise, resolve } = Promise.withResolvers<Ending>()
    hear = resolve
    const abort = (): void => resolve({ error: signal.reason })
    const timer = setTimeout(() => resolve({ error: tooSlow(request.edit.filePath, editMs) }), editMs)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    else worker.postMessage(request)
    const ending = await promise
    hear = noop
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    return ending
  }

  return {
    async run(before, edit, signal) {
      worker.ref()
      const ending = await ask({ before, edit }, signal)
      worker.unref()
      if ('answer' in ending) return contentOf(ending.answer)
      await end()
      if (isOutOfMemory(ending.error)) return 'memory'
      throw ending.error
    },
    isEnding: () => isEnding,
    end,
  }
}

/** How an edit has ended; an error ends the thread, too. */
type Ending = { readonly answer: EditAnswer } | { readonly error: unknown }

function noop(): void {
  return undefined
}

function contentOf(answer: EditAnswer): Uint8Array {
  if ('after' in answer) return answer.after
  const { failure, ...cause } = answer
  const { reason, message, retry } = failure
  throw new Failure(reason, message, { ...cause, retry })
}

/** The Failure of a file whose edit took too long. */
export function tooSlow(filePath: string, ms: number): Failure {
  const complaint = `took longer than ${ms / 1000} s to be changed; Commitlet retries automatically. If this stays, split the file, or commit the whole file.`
  return new Failure('Timeout', `The file ${filePath} ${complaint}`)
}

/** The Failure of a file whose edit does not fit into the memory that there is for one. */
export function tooMuchMemory(filePath: string): Failure {
  const complaint = `takes more memory to be changed than Commitlet has for it, although it has less than ${EDIT_LIMIT / (1024 * 1024)} MiB; split the file, or commit the whole file.`
  return refusalsOf(filePath)(complaint, 'NotSupported')
}
