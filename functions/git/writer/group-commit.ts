import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Change, Landed } from '../../domain/commit/change.ts'
import type { Login } from '../../domain/credentials/login.ts'
import type { Release } from '../../domain/network/budget.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import { makeBranchQueue, type BranchQueue, type Waiter } from './branch-queue.ts'
import { countExpected, type ExpectedChanges } from './expected-changes.ts'
import { watchContention } from './branch-contention.ts'
import { takeBranchTurns } from './branch-turns.ts'
import { signalWhenAbandoned, type PendingChange, type PushOptions, type Settled } from './pending-change.ts'
import { unitedSecrets } from '../../domain/redact.ts'

/** Changes of one repository, branch and login that are pushed together. */
export interface Batch extends SessionOwner {
  readonly changes: readonly PendingChange[]
  /** The first change's, with the secrets of all: a message of the remote may contain any of them. */
  readonly login: Login
  /** Fires when nobody waits for those that have not ended: the deadline of one change does not fail the others. */
  readonly signal: AbortSignal
  /** Others write to the branch as well: its remembered tip is old. */
  readonly contended: boolean
  /** To be called when others have moved the branch, or may have. */
  readonly raced: () => void
}

/** Whose session with a remote it is. */
export interface SessionOwner {
  readonly address: RepositoryAddress
  /** The first change's. */
  readonly namespace: string
}

/** Collects changes while a batch is being pushed. */
export interface GroupCommit {
  push(change: Change, login: Login, signal: AbortSignal, options?: PushOptions): Promise<Landed>
  /** A change for this branch is on its way; the result is called when it has come, or will not come. */
  readonly expect: ExpectedChanges['expect']
  /** Waits until every batch has ended. */
  idle(): Promise<void>
}

/** What the group commit hands on. */
export interface GroupCommitParts {
  /** Yields results step by step; changes without a result fail when it throws or ends. */
  readonly land: (batch: Batch) => AsyncIterable<Settled>
  /** Waits until a session with the remote may begin. Rejects if the signal fires. Default: at once. */
  readonly acquire?: (owner: SessionOwner, signal: AbortSignal) => Promise<Release>
}

/**
 * Group commit: the changes of a repository, branch and login that arrive during a push are in the next one, in order,
 * one commit each. A push begins as soon as the one before has ended, it may have a session, no other login pushes to the
 * branch, and no other change for it is known to be on its way; for both of these it waits a moment. Where others write
 * to the branch as well, it gathers changes for longer. A change whose signal fires fails at once and alone; a
 * batch ends early only when nobody waits for those of its changes that have not ended.
 */
export function makeGroupCommit({ land, acquire = atOnce }: GroupCommitParts): GroupCommit {
  const queues = new Map<string, BranchQueue>()
  const running = new Set<Promise<void>>()
  const expected = countExpected()
  const contention = watchContention()
  const takeTurn = takeBranchTurns()

  async function run(key: string, queue: BranchQueue): Promise<void> {
    while (!queue.isEmpty()) await runNext(key, queue)
    queues.delete(key)
  }

  async function runNext(key: string, queue: BranchQueue): Promise<void> {
    const first = queue.first()
    if (first === undefined) return
    await queue.gather(expected.of(first), contention.pauseFor(key))
    const pass = await takeTurn(first)
    try {
      await runInTurn(key, queue)
    } finally {
      pass()
    }
  }

  async function runInTurn(key: string, queue: BranchQueue): Promise<void> {
    const first = queue.first()
    if (first === undefined) return
    const owner = { address: first.repository, namespace: first.namespace }
    const abandoned = queue.abandoned()
    const release = await acquire(owner, abandoned).catch(asFailure)
    if (release instanceof Failure) {
      // Otherwise nobody waits any more, or only who has come since then.
      if (!abandoned.aborted) for (const { settle } of queue.takeNext()) settle(release)
      return
    }
    try {
      await runBatch(key, queue.takeNext())
    } finally {
      release()
    }
  }

  async function runBatch(key: string, waiters: readonly Waiter[]): Promise<void> {
    const [first] = waiters
    if (first === undefined) return
    const open = new Map(waiters.map(({ pending, settle }) => [pending, settle]))
    const changes = [...open.keys()]
    const login = { ...first.login, secrets: unitedSecrets(waiters.map((waiter) => waiter.login.secrets)) }
    const { repository: address, namespace } = first.pending.change
    let isRaced = false
    const raced = (): void => void (isRaced = true)
    const batch = { changes, address, namespace, login, contended: contention.isContended(key), raced }
    const failure = await settleAll(batch, open).catch(asFailure)
    contention.ended(key, isRaced)
    // A failure must not stop the queue: other changes wait in it.
    for (const settle of open.values()) settle(failure ?? asFailure(new Error('A change did not end')))
  }

  /** Settles each waiter when its change ends, and removes it from `open`. */
  async function settleAll(
    batch: Omit<Batch, 'signal'>,
    open: Map<PendingChange, Waiter['settle']>,
  ): Promise<undefined> {
    const abandoned = signalWhenAbandoned(batch.changes, open)
    try {
      if (abandoned.signal.aborted) return
      for await (const settled of land({ ...batch, signal: abandoned.signal })) {
        for (const [pending, ending] of settled) {
          open.get(pending)?.(ending)
          open.delete(pending)
        }
        abandoned.check()
      }
    } finally {
      abandoned.stop()
    }
  }

  function enqueue(key: string, waiter: Waiter): BranchQueue {
    const known = queues.get(key)
    if (known !== undefined) {
      known.add(waiter)
      return known
    }
    const queue = makeBranchQueue(waiter)
    queues.set(key, queue)
    const work = run(key, queue)
    running.add(work)
    void work.finally(() => running.delete(work))
    return queue
  }

  return {
    push(change, login, signal, options) {
      if (signal.aborted) return Promise.reject(outOfTime(signal, change))
      const { promise, resolve, reject } = Promise.withResolvers<Landed>()
      function settle(ending: Landed | Failure): void {
        signal.removeEventListener('abort', abort)
        if (ending instanceof Failure) reject(ending)
        else resolve(ending)
      }
      const waiter = { pending: { change, date: new Date(), signal, ...options }, login, settle }
      const queue = enqueue(keyOf(change, login), waiter)
      function abort(): void {
        queue.remove(waiter)
        settle(outOfTime(signal, change))
      }
      signal.addEventListener('abort', abort, { once: true })
      return promise
    },
    expect: expected.expect,
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

function keyOf({ repository, branch }: Change, { identity }: Login): string {
  return JSON.stringify([repository.text, branch ?? null, identity])
}

function atOnce(): Promise<Release> {
  return Promise.resolve(() => undefined)
}

function outOfTime(signal: AbortSignal, change: Change): Failure {
  if (signal.reason instanceof Failure) return signal.reason
  const message = `The time for one attempt was over before ${change.repository.text} had accepted the commit; Commitlet retries automatically.`
  return new Failure('Timeout', message)
}
