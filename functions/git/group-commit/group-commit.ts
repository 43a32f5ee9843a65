import type { Change, Landed } from '../../domain/commit/change.ts'
import type { Login } from '../../domain/credentials/login.ts'
import type { Release } from '../../domain/network/budget.ts'
import { Failure } from '../../domain/failure.ts'
import type { Land } from './batch.ts'
import { takeBatchTurns, type BatchTurns } from './batch-turns.ts'
import { makeBranchQueue, type BranchQueue, type Waiter } from './queue/branch-queue.ts'
import { countExpected, type ExpectedChanges } from './queue/expected-changes.ts'
import { acquireFirst, type Acquire } from './first-session.ts'
import { makeLanding } from './land-next.ts'
import { choosePushCompanions } from './push-companions.ts'
import { rememberDefaultBranches } from './queue/branch-place.ts'
import { apartKey } from './queue/queue-keys.ts'
import { watchContention } from './branch-contention.ts'
import type { Slow } from './branch-lines.ts'
import { openBranchTurns } from './branch-turns.ts'
import { sharedClaim } from './shared-claim.ts'
import type { PushOptions } from '../writer/pending-change.ts'

/** Collects changes while a batch is being pushed. */
export interface GroupCommit {
  push(change: Change, login: Login, signal: AbortSignal, options?: PushOptions): Promise<Landed>
  /** A change of this namespace for this branch is on its way; the result is called when it has come, or will not come. */
  readonly expect: ExpectedChanges['expect']
  /** Waits until every batch has ended. */
  idle(): Promise<void>
}

/**
 * How long others wait for the turn of a login whose namespace has no session: it has taken all that it gets elsewhere, and may
 * wait for one to the end of its attempt.
 */
const NO_SESSION_MS = 250

/** What the group commit hands on. */
export interface GroupCommitParts {
  readonly land: Land
  /** Waits until a session with the remote may begin. Rejects if the signal fires. Default: at once. */
  readonly acquire?: Acquire
}

/**
 * Group commit: the changes of a repository, branch and login that arrive during a push are in the next one, in order, one
 * commit each. A push begins as soon as the one before has ended, it may have a session, no other login pushes to the branch,
 * and of some namespace no other change is known to be on its way; for both of these it waits a moment. Where others write to
 * the branch as well, it gathers changes for longer, and a push that has lost a race takes up what came meanwhile.
 *
 * Namespaces that share a login, which only the operator's is, share its pushes as long as none keeps the others from theirs:
 * one of which commits are refused, fail, take long to be made or to be looked at by the host, are given up, are claimed too
 * slowly or leave a push without an answer pushes by itself for a while, and what always takes long, may hide words of the
 * remote or is made one by one is always pushed by its own namespace. A change whose signal fires fails at once and alone; a
 * batch ends early only when nobody waits for those of its changes that have not ended.
 */
export function makeGroupCommit({ land, acquire = atOnce }: GroupCommitParts): GroupCommit {
  const queues = new Map<string, BranchQueue>()
  const places = new WeakMap<Waiter, BranchQueue>()
  /** Those that were in a push which others may have overtaken: a later attempt at their resource may have written. */
  const late = new WeakSet<Waiter>()
  const companions = choosePushCompanions()
  const running = new Set<Promise<void>>()
  const expected = countExpected()
  const contention = watchContention()
  const turns = openBranchTurns()
  const branches = rememberDefaultBranches()
  const landNext = makeLanding({ land, contention, companions, branches, enqueue })

  async function run(key: string, queue: BranchQueue): Promise<void> {
    while (!queue.isEmpty()) await runNext(key, queue)
    queues.delete(key)
  }

  async function runNext(key: string, queue: BranchQueue): Promise<void> {
    const next = queue.first()
    if (next === undefined) return
    const { change } = next.pending
    const { identity } = next.login
    const target = branches.named(change)
    await queue.gather(expected.of(target), contention.pauseFor(key, companions.mayShare(key, next)))
    if (queue.isEmpty()) return
    const isShared = queue.namespaces().size > 1
    const slowMs = (namespace: string): Slow => companions.slowMs(next, namespace)
    const times = { likelyMs: queue.likelyMs(), slowMs }
    const turn = takeBatchTurns(turns, target, { login: identity, isShared, ...times })
    // Once nobody waits any more, nothing is left to be done, or only for who has come since then.
    const wanted = { address: change.repository, signal: queue.abandoned() }
    const first = await acquireFirst(turn.acquire, queue, wanted)
    if (first instanceof Failure) return
    turn.begin(first)
    const writer = { login: identity, namespaces: queue.namespaces() }
    try {
      await runInTurn(key, queue, { turn, landed: () => turns.landed(target, writer) })
    } finally {
      turn.end()
    }
  }

  async function runInTurn(
    key: string,
    queue: BranchQueue,
    { turn, landed }: { readonly turn: BatchTurns; readonly landed: () => void },
  ): Promise<void> {
    const first = queue.first()
    if (first === undefined) return
    const { repository: address } = first.pending.change
    const abandoned = queue.abandoned()
    // It pushes without a turn then.
    const noSession = setTimeout(turn.end, NO_SESSION_MS)
    const session = await acquireFirst(acquire, queue, { address, signal: abandoned })
    clearTimeout(noSession)
    if (session instanceof Failure) {
      // Otherwise nobody waits any more, or only who has come since then.
      if (!abandoned.aborted) for (const { settle } of queue.takeNext()) settle(session)
      return
    }
    try {
      await landNext(key, queue, { ...session, turn, landed })
    } finally {
      session.release()
    }
  }

  function enqueue(waiter: Waiter, isLate?: 'late'): void {
    if (isLate !== undefined) late.add(waiter)
    const place = companions.queueOf(waiter)
    const own = apartKey(waiter)
    const mayBeFull = waiter.login.ofOperator === true && place !== own
    const key = mayBeFull && queues.get(place)?.hasRoomFor(waiter) === false ? own : place
    const known = queues.get(key)
    const queue = known ?? makeBranchQueue(waiter)
    places.set(waiter, queue)
    if (known !== undefined) {
      known.add(waiter)
      return
    }
    queues.set(key, queue)
    const work = run(key, queue)
    running.add(work)
    void work.finally(() => running.delete(work))
  }

  return {
    push(change, login, signal, options) {
      if (signal.aborted) return Promise.reject(outOfTime(signal, change))
      const { promise, resolve, reject } = Promise.withResolvers<Landed>()
      function settle(ending: Landed | Failure): void {
        signal.removeEventListener('abort', abort)
        if (ending instanceof Failure) reject(ending)
        else {
          branches.found(change, ending.branch)
          resolve(ending)
        }
      }
      const claim =
        options?.claim &&
        sharedClaim(options.claim, {
          isShared: () => login.ofOperator === true && places.get(waiter) !== queues.get(apartKey(waiter)),
          failed: () => companions.keepApart(waiter),
          isLate: () => late.delete(waiter),
        })
      const pending = { change, ...options, date: options?.date ?? new Date(), signal, claim }
      const waiter: Waiter = { pending, login, settle }
      enqueue(waiter)
      function abort(): void {
        places.get(waiter)?.remove(waiter)
        settle(outOfTime(signal, change))
      }
      signal.addEventListener('abort', abort, { once: true })
      return promise
    },
    expect: (change) => expected.expect(branches.named(change)),
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

function atOnce(): Promise<Release> {
  return Promise.resolve(() => undefined)
}

function outOfTime(signal: AbortSignal, change: Change): Failure {
  if (signal.reason instanceof Failure) return signal.reason
  const message = `The time for one attempt was over before ${change.repository.text} had accepted the commit; Commitlet retries automatically.`
  return new Failure('Timeout', message)
}
