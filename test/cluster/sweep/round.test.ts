import t from 'tap'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import type { Sweep } from '../../../functions/cluster/sweep/due.ts'
import { makeRounds } from '../../../functions/cluster/sweep/round.ts'
import type { StoredResource } from '../../harness/paging-server.ts'
import { pagingServer, pendingIn } from '../../harness/paging-server.ts'
import { recordingLog } from '../../webhook/stage.ts'

const LATER = new Date(Date.now() + 3_600_000).toISOString()
const PAST = '2026-01-01T12:00:00Z'

/** Rounds over these resources, and what they have announced. */
function stage(sweep: Sweep, resources: readonly StoredResource[]) {
  const api = pagingServer()
  api.store(resources)
  const announced: string[] = []
  const sink = {
    announce: async ({ name }: { readonly name: string }) => announced.push(name) > 0,
    hasRoom: () => true,
    isUnderway: () => false,
  }
  const { log, lines } = recordingLog()
  const round = makeRounds({ cluster: connectCluster(api.server), sink, log }, sweep)
  const { signal } = new AbortController()
  /** How many lists a round reads. */
  async function lists(): Promise<number> {
    const before = api.asked.pages
    await round(signal)
    return api.asked.pages - before
  }
  return { api, announced, lines, lists, round: () => round(signal) }
}

const one = (name: string, changes: Partial<StoredResource>): StoredResource => ({
  ...{ kind: 'GitCommit', namespace: 'shop', name, phase: 'Pending' },
  ...changes,
})

t.test(
  'a namespace with very many retries has as many as its pace allows, and others all of theirs',
  async (t) => {
    const failed = (name: string, namespace: string): StoredResource =>
      one(name, { namespace, phase: 'Retrying', observed: 1, reason: 'NetworkError', nextAttemptTime: PAST })
    const { announced, round } = stage('unsettled', [
      ...Array.from({ length: 300 }, (_, i) => failed(`many-${i}`, 'large')),
      ...Array.from({ length: 50 }, (_, i) => ({ ...failed(`fixed-${i}`, 'large'), generation: 2 })),
      ...Array.from({ length: 300 }, (_, i) => one(`first-${i}`, { namespace: 'large' })),
      ...Array.from({ length: 5 }, (_, i) => failed(`few-${i}`, 'shop')),
    ])
    const { isCrowded } = await round()
    const count = (start: string): number => announced.filter((name) => name.startsWith(start)).length
    t.same([count('many'), count('first'), count('fixed'), count('few')], [25, 300, 50, 5])
    t.ok(isCrowded, 'the next round begins soon')
  },
)

t.test('retries that all namespaces share are made in turns of these, whoever has more', async (t) => {
  const failed = (name: string, namespace: string): StoredResource =>
    one(name, { namespace, phase: 'Retrying', observed: 1, reason: 'NetworkError', nextAttemptTime: PAST })
  const others = ['one', 'shop', 'three', 'two']
  const { announced, round } = stage('unsettled', [
    ...Array.from({ length: 400 }, (_, i) => failed(`hostile-${i}`, 'hostile')),
    ...others.flatMap((name) => Array.from({ length: 10 }, (_, i) => failed(`${name}-${i}`, name))),
  ])
  const { isCrowded } = await round()
  const count = (start: string): number => announced.filter((name) => name.startsWith(`${start}-`)).length
  t.same(['hostile', ...others].map(count), [9, 9, 9, 9, 9])
  t.ok(isCrowded, 'the next round begins soon')
})

t.test(
  'a few resources that are not settled cost one list of each kind; claims that have lapsed come first',
  async (t) => {
    const { announced, lists, round } = stage('unsettled', [
      one('fresh', {}),
      one('failed', { phase: 'Retrying', reason: 'NetworkError', nextAttemptTime: PAST }),
      one('later', { phase: 'Retrying', reason: 'NetworkError', nextAttemptTime: LATER }),
      one('lapsed', { phase: 'Progressing', reason: 'Progressing', nextAttemptTime: PAST }),
      one('settled', { phase: 'Succeeded', observed: 1 }),
      one('opened', { kind: 'PullRequest' }),
    ])
    t.equal(await lists(), 2)
    t.same(announced, ['lapsed', 'failed', 'fresh', 'opened'])
    const { listed, isComplete, earliest } = await round()
    t.same(
      listed.filter(({ scope }) => scope.kind === 'GitCommit').map(({ scope, rows }) => [scope.phase, rows]),
      [['Progressing', 1], ['Retrying', 2], ['Pending', 1]], // prettier-ignore
    )
    t.equal(isComplete, true)
    t.equal(earliest, Date.parse(LATER))
  },
)

t.test('many are read in pages, and at once again when they are few', async (t) => {
  const { api, lists, announced } = stage('unsettled', pendingIn('shop', 8_000))
  t.ok((await lists()) > 100)
  t.ok(announced.length > 500)
  api.store(pendingIn('shop', 150))
  t.ok((await lists()) > 2, 'in pages, which show that they are few')
  t.equal(await lists(), 2)
})

t.test('where a list fails, the others are read, and the next round reads pages', async (t) => {
  const { api, lists, lines, announced, round } = stage('unsettled', [
    one('a', {}),
    one('b', { kind: 'PullRequest' }),
  ])
  api.fault = ({ path }) =>
    path.includes('gitcommits?resourceVersion=0') ? Promise.resolve({ status: 429, text: '{}' }) : undefined
  const { failed, isComplete } = await round()
  t.same([failed, isComplete, announced], [['GitCommit'], false, ['b']])
  t.match(lines, [{ sweep: 'unsettled', resources: 'gitcommits', reason: 'RateLimited' }])
  t.equal(await lists(), 3 + 1, 'three phases, and the other kind')
  t.same(announced, ['b', 'a', 'b'])
})

t.test('a round that leaves out a part of a large namespace is not complete', async (t) => {
  const { round } = stage('unsettled', pendingIn('shop', 8_000))
  t.equal((await round()).isComplete, false)
})

t.test('a full sweep does not begin earlier for what becomes due', async (t) => {
  const { round, announced } = stage('full', [
    one('later', { phase: 'Retrying', reason: 'NetworkError', observed: 1, nextAttemptTime: LATER }),
    one('lost', {}),
  ])
  const { earliest, isComplete } = await round()
  t.same([earliest, isComplete, announced], [Infinity, true, ['lost']])
})
