import type { Sweeper } from './announce.ts'
import { makeAnnouncer } from './announce.ts'
import type { Changes } from './changes.ts'
import { guardRound } from './guard.ts'
import type { Round } from './round.ts'
import { makeRounds } from './round.ts'

/** How long changes alone are trusted, in milliseconds: one list of everything a day costs little. */
const TRUSTED_MS = 24 * 3_600_000

/**
 * The rounds of a full sweep where changes can be followed: a round lists everything once, and those after it announce what has
 * changed since. They list again where a change may have been missed, where not all events had room, and once a day.
 * `elapsed`: milliseconds of a clock that is never set.
 */
export function makeFollowedRounds(sweeper: Sweeper, changes: Changes, elapsed: () => number): Round {
  const list = makeRounds(sweeper, 'full')
  let isTrusted = false
  let listedAt = 0
  // Whether the next round begins all lists, rather than to go on in the middle.
  let isFresh = true
  // Ends of all lists since changes are followed; the first end may be that of a list which began before.
  let ends = 0

  async function announceChanges(signal: AbortSignal): ReturnType<Round> {
    const now = sweeper.cluster.now().getTime()
    const { tally, select, announce } = makeAnnouncer(sweeper, { sweep: 'full', since: now }, signal)
    const { guarded, failed } = guardRound(sweeper, 'full')
    const due = Map.groupBy(select(changes.due()), ({ ref }) => ref.kind)
    for (const [kind, rows] of due) await guarded(kind, () => announce(rows))
    return { ...tally, listed: [], failed, isComplete: failed.length === 0 }
  }

  return async function round(signal) {
    const isCurrent = isTrusted && elapsed() - listedAt < TRUSTED_MS
    if (isCurrent && changes.isFollowed()) return announceChanges(signal)
    // Where it fails, the lists fail as well, and say so.
    const isNew = await changes.begin(signal).catch(() => true)
    if (isNew || isTrusted) ends = isFresh ? 1 : 0
    listedAt = elapsed()
    const result = await list(signal)
    isFresh = result.isComplete
    if (result.isCrowded) ends = 0
    else if (result.isComplete) ends += 1
    isTrusted = ends > 1 && changes.isFollowed()
    return result
  }
}
