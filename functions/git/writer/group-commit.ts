import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Change, Landed } from '../../domain/commit/change.ts'
import type { Login } from '../../domain/credentials/login.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { PendingChange } from './pending-change.ts'
import { unitedSecrets } from '../../domain/redact.ts'

/** Changes of one repository, branch and login, taken together. */
export interface Batch {
  readonly entries: readonly PendingChange[]
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

interface Waiting {
  readonly entry: PendingChange
  readonly login: Login
}

/**
 * Group commit: the first change of a repository, branch and login goes at once; those that come while it is
 * on its way go in the next batch, in order. A change whose signal fires is failed at once and alone; a batch
 * ends early only when nobody waits for it. `land` settles every entry; where it throws, those that it has not settled
 * fail, and the next batch goes all the same.
 */
export function makeGroupCommit(land: (batch: Batch) => Promise<void>): GroupCommit {
  const lines = new Map<string, Waiting[]>()
  const running = new Set<Promise<void>>()

  async function run(key: string, line: Waiting[]): Promise<void> {
    while (line.length > 0) {
      const taken = line.splice(0, lengthOfNext(line))
      const [first] = taken
      if (first === undefined) continue
      const secrets = unitedSecrets(taken.map(({ login }) => login.secrets))
      const entries = taken.map(({ entry }) => entry)
      try {
        await runBatch(entries, {
          address: first.entry.change.repository,
          login: { ...first.login, secrets },
        })
      } catch (error) {
        // What has an answer already keeps it. The line goes on: others wait in it, and more may come.
        for (const { settle } of entries) settle(asFailure(error))
      }
    }
    lines.delete(key)
  }

  async function runBatch(
    entries: readonly PendingChange[],
    at: Pick<Batch, 'address' | 'login'>,
  ): Promise<void> {
    const nobody = new AbortController()
    function leave(): void {
      if (entries.every(({ signal }) => signal.aborted)) nobody.abort()
    }
    for (const { signal } of entries) signal.addEventListener('abort', leave)
    leave()
    try {
      if (!nobody.signal.aborted) await land({ ...at, entries, signal: nobody.signal })
    } finally {
      for (const { signal } of entries) signal.removeEventListener('abort', leave)
    }
  }

  return {
    push(change, login, signal) {
      if (signal.aborted) return Promise.reject(outOfTime(signal, change))
      const { promise, resolve, reject } = Promise.withResolvers<Landed>()
      function abort(): void {
        reject(outOfTime(signal, change))
      }
      function settle(result: Landed | Failure): void {
        signal.removeEventListener('abort', abort)
        if (result instanceof Failure) reject(result)
        else resolve(result)
      }
      signal.addEventListener('abort', abort, { once: true })
      const waiting = { entry: { change, date: new Date(), signal, settle }, login }
      const key = keyOf(change, login)
      const line = lines.get(key)
      if (line !== undefined) {
        line.push(waiting)
        return promise
      }
      const started = [waiting]
      lines.set(key, started)
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

function keyOf({ repository, branch }: Change, { identity }: Login): string {
  return JSON.stringify([repository.text, branch ?? null, identity])
}

// Changes that have to be looked up in history first fetch more than others: they go by themselves.
function lengthOfNext(line: readonly Waiting[]): number {
  const [first] = line
  const search = first?.entry.change.since !== undefined
  let bytes = 0
  const end = line.findIndex(({ entry: { change } }, i) => {
    bytes += change.content.length + change.message.length
    return i > 0 && (i >= BATCH_LENGTH || bytes > BATCH_BYTES || (change.since !== undefined) !== search)
  })
  return end < 0 ? line.length : end
}

function outOfTime(signal: AbortSignal, change: Change): Failure {
  if (signal.reason instanceof Failure) return signal.reason
  const message = `The time for one attempt was over before ${change.repository.text} had taken the commit; it is tried again.`
  return new Failure('Timeout', message)
}
