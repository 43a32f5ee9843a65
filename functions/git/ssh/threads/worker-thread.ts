import type { Transferable } from 'node:worker_threads'
import type { FromWorker, ToWorker } from '../../ssh-worker/messages.ts'
import { isOutOfMemory, startProgramThread } from './program-thread.ts'
import { WORKER_TEXT } from './worker-text.ts'

/** A thread that talks to SSH servers; nothing that they send is read in any other. */
export interface WorkerThread {
  /** Passes every message about a new session or program to `hear`, until `forget` is called; returns its id. */
  listen(hear: (message: Heard) => void): number
  forget(id: number): void
  post(message: ToWorker, transferred?: readonly Transferable[]): void
  /** Whether the process stays alive for it. */
  hold(held: boolean): void
  /** Whether it has ended or is about to. */
  isEnding(): boolean
  /** Ends it, whatever it is doing. */
  readonly end: (why?: 'closed' | 'turn') => void
  /** Resolves when it has ended and its memory is free. */
  readonly ended: Promise<undefined>
}

/** What a listener is told: a message of the thread, or that it has ended. */
export type Heard = FromWorker | Gone

interface Gone {
  readonly kind: 'gone'
  readonly why: ThreadEnd
  /** The error that it ended with. */
  readonly cause?: unknown
}

/** Why a thread has ended: a server broke a limit, held it for too long, or needed too much memory; `turn`: others waited. */
export type ThreadEnd = 'closed' | 'turn' | 'hostile' | 'stalled' | 'memory' | 'crashed'

/** Limits of one thread. Buffers are outside of its heap; they are bounded by windows and port-stream.ts. */
export interface ThreadLimits {
  readonly heapMiB: number
  /** How long its event loop may stand still. */
  readonly stallMs: number
}

export const THREAD_LIMITS: ThreadLimits = { heapMiB: 48, stallMs: 5_000 }
/** How often it is checked during `stallMs`: a busy machine delays both threads, which is not a stall. */
const CHECKS = 10

const PROGRAM = { text: WORKER_TEXT, source: () => new URL('../../ssh-worker/main.ts', import.meta.url) }

/** Starts a thread. It gets nothing of the environment and prints nothing. */
export function startWorkerThread({ heapMiB, stallMs }: ThreadLimits = THREAD_LIMITS): WorkerThread {
  const worker = startProgramThread(PROGRAM, heapMiB)
  const pulse = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const listeners = new Map<number, (message: Heard) => void>()
  const { promise: ended, resolve } = Promise.withResolvers<undefined>()
  let [last, ending] = [0, false]

  function end(why: ThreadEnd, cause?: unknown): void {
    if (ending) return
    ending = true
    clearInterval(watch)
    for (const hear of [...listeners.values()]) hear({ kind: 'gone', why, cause })
    listeners.clear()
    void worker.terminate()
  }

  const isStalled = stallDetector(pulse)
  const watch = setInterval(() => {
    if (isStalled()) end('stalled')
  }, stallMs / CHECKS).unref()
  worker.on('message', (message: FromWorker) => {
    const hear = listeners.get(message.id)
    hear?.(message)
    // Of a session that was closed meanwhile: the thread may have gone on for another namespace.
    if (hear !== undefined && message.kind === 'failed' && message.hostile) end('hostile')
  })
  worker.on('error', (error: unknown) => end(isOutOfMemory(error) ? 'memory' : 'crashed', error))
  worker.on('exit', () => {
    end('crashed')
    resolve(undefined)
  })
  worker.postMessage({ kind: 'begin', pulse } satisfies ToWorker)

  return {
    listen(hear) {
      last += 1
      if (ending) queueMicrotask(() => hear({ kind: 'gone', why: 'closed' }))
      else listeners.set(last, hear)
      return last
    },
    forget: (id) => void listeners.delete(id),
    post(message, transferred = []) {
      if (!ending) worker.postMessage(message, transferred)
    },
    hold(held) {
      if (held) worker.ref()
      else worker.unref()
    },
    isEnding: () => ending,
    end: (why = 'closed') => end(why),
    ended,
  }
}

/** Tells at each call whether the pulse has stood still for so many calls; a thread that has not begun yet has none. */
function stallDetector(pulse: Int32Array): () => boolean {
  let [seen, missed] = [0, 0]
  return function isStalled() {
    const now = Atomics.load(pulse, 0)
    missed = now === seen && now > 0 ? missed + 1 : 0
    seen = now
    return missed >= CHECKS
  }
}
