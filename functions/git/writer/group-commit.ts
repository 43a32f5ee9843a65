import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Change, Landed } from '../../domain/commit/change.ts'
import type { Login } from '../../domain/credentials/login.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import { isWaitedFor, type PendingChange, type Settled } from './pending-change.ts'
import { unitedSecrets } from '../../domain/redact.ts'

/** Changes of one repository, branch and login, taken together. */
export interface Batch {
  readonly changes: readonly PendingChange[]
  readonly address: RepositoryAddress
  /** The first change's, with the secrets of all: what one of them has sent may come back to any. */
  readonly login: Login
  /** Fires when the last waiting change has gone: no change is failed by a neighbour's deadline. */
  readonly signal: AbortSignal
}

/** Collects changes while a batch is on its way. */
export interface GroupCommit {
  push(change: Change, login: Login, signal: AbortSignal): Promise<Landed>
  /** Waits until every batch has ended. */
  idle(): Promise<void>
}

/** One push carries at most so many commits and so many bytes of content (one change always goes). */
export const BATCH_LENGTH = 500
const BATCH_BYTES = 64 * 1024 * 1024

/** A caller of `push`. */
interface Waiter {
  readonly pending: PendingChange
  readonly login: Login
  /** Answers the caller; later calls do nothing. */
  readonly settle: (ending: Landed | Failure) => void
}

/**
 * Group commit: the first change of a repository, branch and login goes at once; those that come while it is
 * on its way go in the next batch, in order. A change whose signal fires is failed at once and alone; a batch
 * ends early only when nobody waits for it. `land` answers bit by bit how the changes end; those of which it has
 * answered nothing fail when it throws or ends, and the next batch goes all the same.
 */
export function makeGroupCommit(land: (batch: Batch) => AsyncIterable<Settled>): GroupCommit {
  const queues = new Map<string, Waiter[]>()
  const running = new Set<Promise<void>>()

  async function run(key: string, queue: Waiter[]): Promise<void> {
    while (queue.length > 0) await runBatch(queue.splice(0, lengthOfNext(queue)))
    queues.delete(key)
  }

  async function runBatch(waiters: readonly Waiter[]): Promise<void> {
    const [first] = waiters
    if (first === undefined) return
    const open = new Map(waiters.map(({ pending, settle }) => [pending, settle]))
    const changes = [...open.keys()]
    const login = { ...first.login, secrets: unitedSecrets(waiters.map((waiter) => waiter.login.secrets)) }
    const batch = { changes, address: first.pending.change.repository, login }
    const failure = await answerAll(batch, open).catch(asFailure)
    // The queue goes on: others wait in it, and more may come.
    for (const settle of open.values()) settle(failure ?? asFailure(new Error('A change did not end')))
  }

  /** Answers each waiter when its change ends, and takes it out of those who are open. */
  async function answerAll(
    batch: Omit<Batch, 'signal'>,
    open: Map<PendingChange, Waiter['settle']>,
  ): Promise<undefined> {
    const gone = signalWhenAllGone(batch.changes)
    try {
      if (gone.signal.aborted) return
      for await (const settled of land({ ...batch, signal: gone.signal }))
        for (const [pending, ending] of settled) {
          open.get(pending)?.(ending)
          open.delete(pending)
        }
    } finally {
      gone.stop()
    }
  }

  return {
    push(change, login, signal) {
      if (signal.aborted) return Promise.reject(outOfTime(signal, change))
      const { promise, resolve, reject } = Promise.withResolvers<Landed>()
      function abort(): void {
        reject(outOfTime(signal, change))
      }
      function settle(ending: Landed | Failure): void {
        signal.removeEventListener('abort', abort)
        if (ending instanceof Failure) reject(ending)
        else resolve(ending)
      }
      signal.addEventListener('abort', abort, { once: true })
      const waiter = { pending: { change, date: new Date(), signal }, login, settle }
      const key = keyOf(change, login)
      const queue = queues.get(key)
      if (queue !== undefined) {
        queue.push(waiter)
        return promise
      }
      const started = [waiter]
      queues.set(key, started)
      const work = run(key, started)
      running.add(work)
      void work.finally(() => running.delete(work))
      return promise
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** A signal that fires when nobody waits for any of the changes; `stop` ends the watch. */
function signalWhenAllGone(changes: readonly PendingChange[]): {
  readonly signal: AbortSignal
  readonly stop: () => void
} {
  const gone = new AbortController()
  function look(): void {
    if (!changes.some(isWaitedFor)) gone.abort()
  }
  for (const { signal } of changes) signal.addEventListener('abort', look)
  look()
  return {
    signal: gone.signal,
    stop() {
      for (const { signal } of changes) signal.removeEventListener('abort', look)
    },
  }
}

function keyOf({ repository, branch }: Change, { identity }: Login): string {
  return JSON.stringify([repository.text, branch ?? null, identity])
}

// Changes that have to be looked up in history first fetch more than others: they go by themselves.
function lengthOfNext(queue: readonly Waiter[]): number {
  const [first] = queue
  const search = first?.pending.change.since !== undefined
  let bytes = 0
  const end = queue.findIndex(({ pending: { change } }, i) => {
    bytes += bytesOf(change)
    return i > 0 && (i >= BATCH_LENGTH || bytes > BATCH_BYTES || (change.since !== undefined) !== search)
  })
  return end < 0 ? queue.length : end
}

function bytesOf({ files, message }: Change): number {
  return files.reduce((sum, { content }) => sum + content.length, message.length)
}

function outOfTime(signal: AbortSignal, change: Change): Failure {
  if (signal.reason instanceof Failure) return signal.reason
  const message = `The time for one attempt was over before ${change.repository.text} had taken the commit; it is tried again.`
  return new Failure('Timeout', message)
}
