import { resourceKey } from '../../domain/resource/resource.ts'
import type { ListedResource } from '../cluster.ts'
import type { Sweeper } from './announce.ts'
import { makeAnnouncer } from './announce.ts'
import type { Followers } from './followers.ts'
import { guardRound } from './guard.ts'
import type { Round } from './round.ts'
import { LOOKBACK_MS, makeRounds } from './round.ts'

/**
 * The rounds of the sweep for followers where they can be watched: a round announces those whose interval is over, from memory.
 * One for which there was no room has its turn in the next round. While they are not watched, each round lists them.
 */
export function makeFollowersRounds(sweeper: Sweeper, followers: Followers): Round {
  const list = makeRounds(sweeper, 'followers')
  let late: readonly ListedResource[] = []
  let since = sweeper.cluster.now().getTime() - LOOKBACK_MS

  async function announceDue(signal: AbortSignal): ReturnType<Round> {
    const scope = { sweep: 'followers', since } as const
    const done = new Set<string>()
    const announce: Sweeper['sink']['announce'] = async (ref) => {
      // One that is gone is done as well.
      const isSent = await sweeper.sink.announce(ref)
      done.add(resourceKey(ref))
      return isSent
    }
    const noting = { ...sweeper, sink: { ...sweeper.sink, announce } }
    const announcer = makeAnnouncer(noting, scope, signal)
    const { guarded, failed } = guardRound(sweeper, 'followers')
    const due = distinct([...late, ...announcer.select([...followers.rows()])])
    await guarded('GitCommit', () => announcer.announce(due))
    late = due.filter(({ ref }) => !done.has(resourceKey(ref)))
    return { ...announcer.tally, listed: [], failed, isComplete: failed.length === 0 }
  }

  return async function round(signal) {
    const began = sweeper.cluster.now().getTime()
    if (followers.isFollowed()) {
      const result = await announceDue(signal)
      since = began
      return result
    }
    late = []
    since = began
    followers.begin(signal)
    return list(signal)
  }
}

function distinct(rows: readonly ListedResource[]): readonly ListedResource[] {
  return [...new Map(rows.map((row) => [resourceKey(row.ref), row])).values()]
}
