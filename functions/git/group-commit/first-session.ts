import { anySignal } from '../../domain/deadline.ts'
import type { Release } from '../../domain/network/budget.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { SessionOwner } from './batch.ts'
import type { BranchQueue } from './queue/branch-queue.ts'

/** Who waits for a session. */
export interface SessionSeeker extends SessionOwner {
  /** Called once the session has to end with this Failure, because others wait for one. */
  readonly giveWay?: (because: Failure) => void
}

/** A session that may begin, or the turn of a branch, and the namespace that it counts towards. */
export interface Session {
  readonly namespace: string
  /** Fires with a Failure once it has to end. */
  readonly gaveWay: AbortSignal
  readonly release: Release
}

/** Waits until a session with the remote may begin, or for a turn of the branch. Rejects if the signal fires. */
export type Acquire = (seeker: SessionSeeker, signal: AbortSignal) => Promise<Release>

/**
 * Waits for a session, or a turn, of any namespace whose changes wait in the queue, also of those that come meanwhile: one that
 * has none left keeps nobody from the branch who shares its login. Returns the failure once all of them have failed.
 */
export async function acquireFirst(
  acquire: Acquire,
  queue: BranchQueue,
  { address, signal }: { readonly address: RepositoryAddress; readonly signal: AbortSignal },
): Promise<Session | Failure> {
  const asked = new Set<string>()
  let pending = 0
  const over = new AbortController()
  const { promise, resolve } = Promise.withResolvers<Session | Failure>()

  async function ask(namespace: string): Promise<void> {
    const either = anySignal([signal, over.signal])
    const gaveWay = new AbortController()
    const giveWay = (because: Failure): void => gaveWay.abort(because)
    const release = await acquire({ address, namespace, giveWay }, either).catch(asFailure)
    pending -= 1
    if (release instanceof Failure) {
      if (pending === 0) resolve(release)
      return
    }
    if (over.signal.aborted) {
      release()
      return
    }
    resolve({ namespace, gaveWay: gaveWay.signal, release })
    over.abort()
  }

  function look(): void {
    for (const namespace of queue.namespaces()) {
      if (asked.has(namespace)) continue
      asked.add(namespace)
      pending += 1
      void ask(namespace)
    }
  }

  look()
  const stop = queue.follow(look)
  try {
    return await promise
  } finally {
    stop()
  }
}
