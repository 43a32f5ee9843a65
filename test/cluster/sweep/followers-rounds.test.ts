import t from 'tap'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import type { ListedResource } from '../../../functions/cluster/cluster.ts'
import type { SweepSink } from '../../../functions/cluster/sweep/announce.ts'
import type { Followers } from '../../../functions/cluster/sweep/followers.ts'
import { makeFollowersRounds } from '../../../functions/cluster/sweep/followers-rounds.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { pagingServer } from '../../harness/paging-server.ts'
import { recordingLog } from '../../webhook/stage.ts'

const MINUTE = 60_000

/** Rounds over these followers, by a clock that goes on a minute for each. Turns of ten minutes have just come. */
function stage(names: readonly string[], interval = '10m') {
  const api = pagingServer()
  const follower = { kind: 'GitCommit', namespace: 'shop', phase: 'Succeeded', observed: 1 } as const
  api.store(names.map((name) => ({ ...follower, name, reason: 'Succeeded', follows: interval })))
  const clock = { now: Date.parse('2026-01-01T12:00:00Z') }
  const state = { isFollowed: false, room: Infinity, down: false, begun: 0 }
  const announced: string[] = []
  const sink: SweepSink = {
    async announce({ name }) {
      if (state.down) throw new Failure('NetworkError', 'No answer.')
      state.room -= 1
      return announced.push(name) > 0
    },
    hasRoom: () => state.room > 0,
    isUnderway: () => false,
  }
  const followers: Followers = {
    begin: () => void (state.begun += 1),
    isFollowed: () => state.isFollowed,
    rows: () => names.map((name) => ({ ...row(name), interval })),
  }
  const { log } = recordingLog()
  const cluster = { ...connectCluster(api.server), now: () => new Date(clock.now) }
  const round = makeFollowersRounds({ cluster, sink, log }, followers)
  /** What a round announces, a minute after the one before. */
  async function next(): Promise<readonly string[]> {
    clock.now += MINUTE
    announced.length = 0
    await round(new AbortController().signal)
    return announced.toSorted()
  }
  return { api, state, next }
}

function row(name: string): ListedResource {
  return {
    ref: { kind: 'GitCommit', namespace: 'shop', name, uid: `shop-${name}`, generation: 1 },
    deleting: false,
    requestedAt: undefined,
    observedGeneration: 1,
    lastHandledRequestedAt: undefined,
    nextAttemptTime: undefined,
    reason: 'Succeeded',
    weight: 1,
  }
}

t.test('followers are listed until they are watched, and then named from memory', async (t) => {
  const { api, state, next } = stage(['a', 'b'], '1m')
  t.same(await next(), ['a', 'b'])
  t.same([api.asked.pages, state.begun], [1, 1])
  state.isFollowed = true
  t.same(await next(), ['a', 'b'])
  t.equal(api.asked.pages, 1)
  state.isFollowed = false
  t.same(await next(), ['a', 'b'])
  t.same([api.asked.pages, state.begun], [2, 2])
})

t.test('one without room has its turn in the next round', async (t) => {
  const { state, next } = stage(['a', 'b', 'c'])
  state.isFollowed = true
  state.room = 1
  t.same(await next(), ['a'])
  state.room = Infinity
  t.same(await next(), ['b', 'c'])
  t.same(await next(), [])
})

t.test('where the API server does not answer, none is lost', async (t) => {
  const { state, next } = stage(['a'])
  state.isFollowed = true
  state.down = true
  t.same(await next(), [])
  state.down = false
  t.same(await next(), ['a'])
})
