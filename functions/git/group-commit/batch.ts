import { anySignal } from '../../domain/deadline.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Login } from '../../domain/credentials/login.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import { unitedSecrets } from '../../domain/redact.ts'
import type { BranchQueue, Waiter } from './queue/branch-queue.ts'
import type { Landing } from '../writer/land.ts'
import {
  namespaceOf,
  signalWhenAbandoned,
  type Abandonment,
  type PendingChange,
  type Settled,
} from '../writer/pending-change.ts'

/** Whose session with a remote it is. */
export interface SessionOwner {
  readonly address: RepositoryAddress
  /** Of one of its changes. */
  readonly namespace: string
}

/** Changes of one repository, branch and login that are pushed together. */
export interface Batch extends SessionOwner, Required<Omit<Landing, 'batch'>> {
  readonly changes: readonly PendingChange[]
  /** The first change's, with the secrets of all: a message of the remote may contain any of them. */
  readonly login: Login
  /**
   * Fires when nobody waits for those that have not ended: the deadline of one change does not fail the others. And when the
   * session has to end.
   */
  readonly signal: AbortSignal
  /** Others have their turns of the branch; what the batch pushes without another one may take their tip. */
  readonly endTurn: () => void
  /** Waits for another turn, for any of these namespaces, unless the one that it has goes on. Rejects if the signal fires. */
  readonly takeTurn: (namespaces: Iterable<string>, signal: AbortSignal) => Promise<void>
}

/** Yields results step by step; changes without a result fail when it throws or ends. */
export type Land = (batch: Batch) => AsyncIterable<Settled>

type Open = Map<PendingChange, Waiter>

/** What the caller of a batch says. */
export interface BatchTerms extends Pick<
  Batch,
  'contended' | 'turnAgain' | 'endTurn' | 'takeTurn' | 'roundEnded' | 'namespace'
> {
  /** Takes over what is refused of one namespace, where there are several: it pushes by itself for ten minutes, or so many milliseconds. */
  readonly takeApart: (waiters: readonly Waiter[], milliseconds?: number) => void
  /** Calls this each time that the push takes so long that those who are in it are to push by themselves. */
  readonly late: (leaveAll: () => void) => void
  /** Takes these over then, while the push goes on. */
  readonly leave: (waiters: readonly Waiter[]) => void
  /** Told of those whose later changes push by themselves. */
  readonly keepApart: (waiters: readonly Waiter[]) => void
  /** Fires with the Failure of all that has not ended once the session has to end. */
  readonly gaveWay: AbortSignal
}

/** Lands what the next push takes of the queue, and returns its result to each caller. Never throws. */
export async function runBatch(
  queue: BranchQueue,
  land: Land,
  { takeApart, late, leave, keepApart: keepWaitersApart, gaveWay, ...terms }: BatchTerms,
): Promise<void> {
  const waiters = queue.takeNext()
  const [first] = waiters
  if (first === undefined) return
  const open: Open = new Map(waiters.map((waiter) => [waiter.pending, waiter]))
  const left = new Set<PendingChange>()
  const changes = [...open.keys()]
  const abandoned = signalWhenAbandoned(open)
  const secrets = unitedSecrets(waiters.map(({ login }) => login.secrets))
  const known = new Set(secrets)
  const { repository: address } = first.pending.change

  function join(batch: readonly PendingChange[]): readonly PendingChange[] {
    // The session masks no other secrets than those that it began with.
    const more = queue.takeMore(batch, ({ login }) => login.secrets.every((secret) => known.has(secret)))
    for (const waiter of more) open.set(waiter.pending, waiter)
    const joined = more.map(({ pending }) => pending)
    abandoned.follow(joined)
    return joined
  }

  function apart(refused: readonly PendingChange[], milliseconds?: number): void {
    const taken = refused.flatMap((pending) => open.get(pending) ?? [])
    for (const { pending } of taken) open.delete(pending)
    takeApart(taken, milliseconds)
  }

  /** What it still makes of them counts, and what becomes of them otherwise is for their next push to say. */
  function leaveAll(): void {
    const leaving = [...open].filter(([pending]) => !left.has(pending))
    // Who is alone in it waits for itself.
    if (new Set(leaving.map(([pending]) => namespaceOf(pending))).size < 2) return
    for (const [pending] of leaving) left.add(pending)
    leave(leaving.map(([, waiter]) => waiter))
  }
  late(leaveAll)

  function keepApart(of: readonly PendingChange[]): void {
    keepWaitersApart(of.flatMap((pending) => open.get(pending) ?? []))
  }

  const hasLeft = (pending: PendingChange): boolean => left.has(pending)
  const login = { ...first.login, secrets }
  const signal = anySignal([abandoned.signal, gaveWay])
  const batch = { ...terms, changes, address, login, join, apart, keepApart, hasLeft, signal }
  const ended = await settleAll(land, batch, { open, left, abandoned }).catch(asFailure)
  const failure = gaveWay.aborted ? asFailure(gaveWay.reason) : ended
  abandoned.stop()
  // A failure must not stop the queue: other changes wait in it.
  for (const [pending, { settle }] of open)
    if (!left.has(pending)) settle(failure ?? asFailure(new Error('A change did not end')))
}

/** Settles each waiter when its change ends, and removes it from `open`. */
async function settleAll(
  land: Land,
  batch: Batch,
  {
    open,
    left,
    abandoned,
  }: {
    readonly open: Open
    /** What becomes of them is for another push to say, unless this one makes it. */
    readonly left: ReadonlySet<PendingChange>
    readonly abandoned: Abandonment
  },
): Promise<undefined> {
  if (abandoned.signal.aborted) return
  for await (const settled of land(batch)) {
    for (const [pending, ending] of settled) {
      if (!left.has(pending) || !(ending instanceof Failure)) open.get(pending)?.settle(ending)
      open.delete(pending)
    }
    abandoned.check()
  }
}
