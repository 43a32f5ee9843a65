import { runBatch, type Land } from './batch.ts'
import { searchedFor } from '../writer/pending-change.ts'
import type { BatchTurns } from './batch-turns.ts'
import type { BranchContention } from './branch-contention.ts'
import { editedPaths, type BranchQueue, type Waiter } from './queue/branch-queue.ts'
import { branchKey, type DefaultBranches } from './queue/branch-place.ts'
import type { Session } from './first-session.ts'
import type { PushCompanions } from './push-companions.ts'
import { keyOf } from './queue/queue-keys.ts'

/**
 * How long others wait for the turn of a push whose files are edited first, which may take seconds: it takes another turn where it
 * has lost its race by then.
 */
const EDITS_MS = 500

/** What pushes of all queues are told, and who hears of them. */
export interface LandingParts {
  readonly land: Land
  readonly contention: BranchContention
  readonly companions: PushCompanions
  readonly branches: Pick<DefaultBranches, 'named'>
  /** Puts a change into the queue in which it is pushed from now on. `late`: it was in a push that others may have overtaken. */
  readonly enqueue: (waiter: Waiter, late?: 'late') => void
}

/** With what session and turn a batch lands. `landed`: told when it has moved the branch. */
export interface LandingTerms extends Session {
  readonly turn: BatchTurns
  readonly landed: () => void
}

/**
 * Makes what lands the next push of a queue, of this key. What is to be pushed by itself from now on leaves the queue, during the push
 * and after it. Never throws.
 */
export function makeLanding({ land, contention, companions, branches, enqueue }: LandingParts) {
  return async function landNext(
    key: string,
    queue: BranchQueue,
    { namespace, gaveWay, turn, landed }: LandingTerms,
  ): Promise<void> {
    /** Those that push by themselves from now on do not join this push, either. */
    function leaveQueue(): void {
      for (const waiter of queue.take((one) => companions.queueOf(one) !== key)) enqueue(waiter)
    }
    const contended = contention.isContended(key)
    // Since it came, it may have become known who makes pushes slow.
    leaveQueue()
    const first = queue.first()
    const isEdited = first !== undefined && editedPaths(first).length > 0
    let editing: NodeJS.Timeout | undefined
    let isFirstRound = true
    function beginEdits(): void {
      clearTimeout(editing)
      editing = isEdited && isFirstRound ? setTimeout(turn.end, EDITS_MS) : undefined
    }
    beginEdits()
    let leaveAll = (): void => undefined
    const watch = companions.watch(key, queue, () => {
      turn.end()
      leaveAll()
      leaveQueue()
    })
    function keepApart(waiters: readonly Waiter[], milliseconds?: number): void {
      for (const waiter of waiters) companions.keepApart(waiter, milliseconds)
      leaveQueue()
    }
    await runBatch(queue, land, {
      namespace,
      gaveWay,
      contended,
      async turnAgain(namespaces, signal) {
        await turn.again(namespaces, signal)
        watch.begin(namespaces)
      },
      endTurn: turn.end,
      async takeTurn(namespaces, signal) {
        await turn.again(namespaces, signal)
        beginEdits()
      },
      keepApart,
      takeApart(waiters, milliseconds) {
        keepApart(waiters, milliseconds)
        // What has left is pushed by itself already.
        for (const waiter of waiters) if (waiter.hasLeft !== true) enqueue(waiter, 'late')
      },
      late: (leave) => void (leaveAll = leave),
      leave(waiters) {
        for (const waiter of waiters) {
          waiter.pending = searchedFor(waiter.pending)
          waiter.hasLeft = true
          enqueue(waiter, 'late')
        }
      },
      roundEnded(round) {
        isFirstRound = false
        clearTimeout(editing)
        watch.end()
        const of = first && { login: keyOf(first), branch: branchKey(branches.named(first.pending.change)) }
        contention.roundEnded(key, round, of)
        if (round.head !== undefined) landed()
        if (first !== undefined) companions.roundEnded(first, round)
      },
    })
    clearTimeout(editing)
    watch.end()
    contention.batchEnded(key)
    leaveQueue()
  }
}
