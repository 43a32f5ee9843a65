import t from 'tap'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { ListedResource } from '../../../functions/cluster/cluster.ts'
import type { SweepSink } from '../../../functions/cluster/sweep/announce.ts'
import type { Changes } from '../../../functions/cluster/sweep/changes.ts'
import { makeFollowedRounds } from '../../../functions/cluster/sweep/followed-rounds.ts'
import { pagingServer, pendingIn } from '../../harness/paging-server.ts'
import { recordingLog } from '../../webhook/stage.ts'

const DAY_MS = 24 * 3_600_000

/** Full sweeps over settled resources, of which those in `changed` have a newer spec. */
function stage(count: number) {
  const api = pagingServer()
  const settled = pendingIn('shop', count).map(
    (one) => ({ ...one, phase: 'Succeeded', observed: 1 }) as const,
  )
  api.store(settled)
  const clock = { time: 0 }
  const feed = { isFollowed: false, begun: 0, canBegin: true, due: [] as readonly ListedResource[] }
  const changes: Changes = {
    async begin() {
      if (feed.isFollowed) return false
      feed.begun += 1
      feed.isFollowed = feed.canBegin
      return true
    },
    isFollowed: () => feed.isFollowed,
    due: () => feed.due,
  }
  const announced: string[] = []
  const room = { has: true }
  const down = { failure: undefined as Failure | undefined }
  const sink: SweepSink = {
    async announce({ name }) {
      if (down.failure !== undefined) throw down.failure
      return announced.push(name) > 0
    },
    hasRoom: () => room.has,
    isUnderway: () => false,
  }
  const { log, lines } = recordingLog()
  const round = makeFollowedRounds(
    { cluster: connectCluster(api.server), sink, log },
    changes,
    () => clock.time,
  )
  /** How many pages a round reads. */
  async function pages(): Promise<number> {
    const before = api.asked.pages
    await round(new AbortController().signal)
    return api.asked.pages - before
  }
  const lose = (name: string) => api.store([...settled, { ...settled[0]!, name, observed: 0 }])
  return { api, clock, feed, room, down, announced, lines, round, pages, lose }
}

function changed(name: string): ListedResource {
  return {
    ref: { kind: 'GitCommit', namespace: 'shop', name, uid: name, generation: 2 },
    ...{ deleting: false, requestedAt: undefined, observedGeneration: 1, lastHandledRequestedAt: undefined },
    ...{ nextAttemptTime: undefined, reason: undefined, weight: 1 },
  }
}

const LIST = 5

t.test('everything is listed once; after that only what has changed is announced', async (t) => {
  const { pages, feed, announced, lose } = stage(200)
  lose('lost-before')
  t.equal(await pages(), LIST + 1, 'one page for the other kind')
  t.same(announced, ['lost-before'])
  t.equal(await pages(), 0)
  feed.due = [changed('later')]
  t.equal(await pages(), 0)
  t.equal(await pages(), 0)
  t.same(announced, ['lost-before', 'later', 'later'], 'in each round, until it was handled')
  t.equal(feed.begun, 1)
})

t.test('where changes may have been missed, and once a day, everything is listed again', async (t) => {
  const { pages, feed, clock } = stage(200)
  await pages()
  feed.isFollowed = false
  t.equal(await pages(), LIST)
  t.equal(await pages(), 0)
  clock.time += DAY_MS
  t.equal(await pages(), LIST)
  t.equal(await pages(), 0)
  t.equal(feed.begun, 2)
})

t.test('where changes cannot be followed, each round lists everything', async (t) => {
  const { pages, feed } = stage(200)
  feed.canBegin = false
  for (let round = 0; round < 3; round += 1) t.equal(await pages(), LIST)
})

t.test('after a round without room for an event, everything is listed twice', async (t) => {
  const { pages, room, lose, announced } = stage(200)
  lose('lost')
  room.has = false
  await pages()
  room.has = true
  t.equal(await pages(), LIST + 1)
  t.equal(await pages(), LIST + 1, 'that of a large namespace may have begun in the middle')
  t.equal(await pages(), 0)
  t.ok(announced.includes('lost'))
})

t.test('a list that fails is read to its end before changes alone are trusted', async (t) => {
  const { pages, api } = stage(200)
  let asked = 0
  api.fault = () => ((asked += 1) === 3 ? Promise.resolve({ status: 429, text: '{}' }) : undefined)
  await pages()
  t.equal(await pages(), 3, 'the rest of it, and the other kind')
  t.equal(await pages(), 0)
})

t.test(
  'a change that cannot be announced fails its kind alone, and is announced by the next round',
  async (t) => {
    const { pages, round, feed, down, announced, lines } = stage(200)
    await pages()
    await pages()
    feed.due = [changed('later')]
    down.failure = new Failure('NetworkError', 'The API server could not be reached.')
    t.match(await round(new AbortController().signal), { failed: ['GitCommit'], sent: { GitCommit: 0 } })
    t.match(lines, [{ msg: /the next one continues/, resources: 'gitcommits', reason: 'NetworkError' }])
    down.failure = undefined
    t.match(await round(new AbortController().signal), { failed: [], sent: { GitCommit: 1 } })
    t.same(announced, ['later'])
  },
)
