import { mostBytesOf, type Change } from '../../../domain/commit/change.ts'
import type { PendingChange } from '../../writer/pending-change.ts'

/** A change that waits. */
interface Waiting {
  readonly pending: PendingChange
}

/** Limits of one push: number of commits, bytes of content and characters of paths (a single change may exceed both). */
export const BATCH_LENGTH = 500
const BATCH_BYTES = 64 * 1024 * 1024
/** Each folder on the way to a file is planned, read and written: some 130,000 of them at most. */
const BATCH_PATHS = 256 * 1024

/** What a push takes besides, and what each character of its paths and each KiB of its content take: in milliseconds. */
const MS_OF_PUSH = 20
const MS_OF_PATHS = 1 / 40
const MS_OF_KIB = 1 / 32
/** What each commit of it takes besides. */
const MS_OF_COMMIT = 1 / 2

/**
 * How many of those that wait one push takes, after those that it has. Changes that are searched for in the history first
 * fetch more than others: they are pushed in separate batches. An API makes one commit at a time.
 */
export function lengthOfNext(queue: readonly Waiting[], batch: readonly PendingChange[] = []): number {
  const [first] = [...batch, ...queue.slice(0, 1).map(({ pending }) => pending)]
  const search = first?.change.since !== undefined
  const most = first?.change.commitByAPI === undefined ? BATCH_LENGTH : 1
  let bytes = batch.reduce((sum, { change }) => sum + bytesOf(change), 0)
  let paths = batch.reduce((sum, { change }) => sum + pathsOf(change), 0)
  const end = queue.findIndex(({ pending: { change } }, i) => {
    bytes += bytesOf(change)
    paths += pathsOf(change)
    const length = batch.length + i
    const isTooLarge = length >= most || bytes > BATCH_BYTES || paths > BATCH_PATHS
    return length > 0 && (isTooLarge || (change.since !== undefined) !== search)
  })
  return end < 0 ? queue.length : end
}

/**
 * Those that wait in the order in which pushes take them: next is a change of the namespace of which the push holds least,
 * after those of `batch`, and among equals the one that came first. A namespace keeps its own order. Otherwise two changes with
 * long paths would fill each push, and those of others would wait for all that the namespace has sent before.
 */
export function inTurns<W extends Waiting>(
  waiters: readonly W[],
  batch: readonly PendingChange[] = [],
): readonly W[] {
  const held = new Map<string, number>()
  function add({ change }: PendingChange): number {
    const before = held.get(change.namespace) ?? 0
    held.set(change.namespace, before + MS_OF_COMMIT + msOf(change))
    return before
  }
  for (const pending of batch) add(pending)
  return waiters
    .map((waiter) => ({ waiter, before: add(waiter.pending) }))
    .sort((one, other) => one.before - other.before)
    .map(({ waiter }) => waiter)
}

/** How long a push of these is likely to take, on a fast server and a machine that is idle. */
export function likelyMsOf(waiters: readonly Waiting[]): number {
  return waiters.reduce((sum, { pending }) => sum + msOf(pending.change), MS_OF_PUSH)
}

function msOf(change: Change): number {
  return MS_OF_PATHS * pathsOf(change) + (MS_OF_KIB * bytesOf(change)) / 1024
}

function bytesOf({ files, message }: Change): number {
  return mostBytesOf(files) + message.length
}

function pathsOf({ files }: Change): number {
  return files.reduce((sum, { path }) => sum + path.length, 0)
}
