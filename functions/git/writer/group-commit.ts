import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Change, Landed } from '../../domain/commit/change.ts'
import type { Login } from '../../domain/credentials/login.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import { isWaitedFor, type PendingChange, type Settled } from './pending-change.ts'
import { unitedSecrets } from '../../domain/redact.ts'

/** Changes of one repository, branch and login that are pushed together. */
export interface Batch {
  readonly changes: readonly PendingChange[]
  readonly address: RepositoryAddress
  /** The first change's. */
  readonly namespace: string
  /** The first change's, with the secrets of all: a message of the remote may contain any of them. */
  readonly login: Login
  /** Fires when the last change is aborted: the deadline of one change does not fail the others. */
  readonly signal: AbortSignal
}

/** Collects changes while a batch is being pushed. */
export interface GroupCommit {
  push(change: Change, login: Login, signal: AbortSignal): Promise<Landed>
  /** Waits until every batch has ended. */
  idle(): Promise<void>
}

/** Limits of one push: number of commits and bytes of content (a single change may exceed the bytes). */
export const BATCH_LENGTH = 500
const BATCH_BYTES = 64 * 1024 * 1024

/** A caller of `push`. */
interface Waiter {
  readonly pending: PendingChange
  readonly login: Login
  /** Returns the result to the caller; later calls do nothing. */
  readonly settle: (ending: Landed | Failure) => void
}

/**
 * Group commit: the first change of a repository, branch and login is pushed at once; changes that arrive during that
 * push are in the next batch, in order. A change whose signal fires fails at once and alone; a batch ends early only
 * when all of its changes are aborted. `land` yields results step by step; changes without a result fail when it
 * throws or ends, and the next batch starts in any case.
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
    const { repository: address, namespace } = first.pending.change
    const batch = { changes, address, namespace, login }
    const failure = await settleAll(batch, open).catch(asFailure)
    // A failure must not stop the queue: other changes wait in it.
    for (const settle of open.values()) settle(failure ?? asFailure(new Error('A change did not end')))
  }

  /** Settles each waiter when its change ends, and removes it from `open`. */
  async function settleAll(
    batch: Omit<Batch, 'signal'>,
    open: Map<PendingChange, Waiter['settle']>,
  ): Promise<undefined> {
    const allAborted = signalWhenAllAborted(batch.changes)
    try {
      if (allAborted.signal.aborted) return
      for await (const settled of land({ ...batch, signal: allAborted.signal }))
        for (const [pending, ending] of settled) {
          open.get(pending)?.(ending)
          open.delete(pending)
        }
    } finally {
      allAborted.stop()
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

/** A signal that fires when all of the changes are aborted; `stop` removes the listeners. */
function signalWhenAllAborted(changes: readonly PendingChange[]): {
  readonly signal: AbortSignal
  readonly stop: () => void
} {
  const allAborted = new AbortController()
  function check(): void {
    if (!changes.some(isWaitedFor)) allAborted.abort()
  }
  for (const { signal } of changes) signal.addEventListener('abort', check)
  check()
  return {
    signal: allAborted.signal,
    stop() {
      for (const { signal } of changes) signal.removeEventListener('abort', check)
    },
  }
}

function keyOf({ repository, branch }: Change, { identity }: Login): string {
  return JSON.stringify([repository.text, branch ?? null, identity])
}

// Changes that are searched for in the history first fetch more than others: they are pushed in separate batches.
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
  const message = `The time for one attempt was over before ${change.repository.text} had accepted the commit; Commitlet retries automatically.`
  return new Failure('Timeout', message)
}
