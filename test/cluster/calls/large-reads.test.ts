import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { ApiServer } from '../../../functions/cluster/api-server.ts'
import {
  LONGEST_TURN_MS,
  OF_ALL,
  OF_GROUP,
  OTHERS_OF_GROUP,
  PASSED_ON,
  shareLargeReads,
} from '../../../functions/cluster/calls/large-reads.ts'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { Failure } from '../../../functions/domain/failure.ts'

const NEVER = new AbortController().signal
const LABELS = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label-${i}`, '']))
const TOO_LARGE = 'too-large'

/** A cluster whose API server, once it `waits`, answers only where a test says so: objects of many labels, or of none. */
function stage() {
  const state = { waits: false, labels: LABELS as object }
  const open: { readonly path: string; readonly answer: () => void }[] = []
  const server: ApiServer = async ({ path }) => {
    if (state.waits) await new Promise<void>((resolve) => open.push({ path, answer: () => resolve() }))
    if (path.includes(TOO_LARGE)) throw new Failure('NotSupported', 'The API server answered with more.')
    const isSmall = path.endsWith('small')
    const metadata = { uid: 'uid', resourceVersion: '1', ...(isSmall ? {} : { labels: state.labels }) }
    return { status: 200, text: JSON.stringify({ kind: 'GitCommit', metadata }) }
  }
  const turnsAreOver = Promise.withResolvers<undefined>()
  const wait = async (ms: number): Promise<unknown> =>
    ms === LONGEST_TURN_MS ? turnsAreOver.promise : undefined
  const cluster = connectCluster(server, { elapsed: () => 0, wait })
  async function endLongTurns(): Promise<void> {
    turnsAreOver.resolve(undefined)
    await settle()
  }
  async function read(namespace: string, name: string, signal = NEVER, group = ''): Promise<unknown> {
    const named = { apiVersion: `${group}v1`, kind: 'Thing', namespace, name }
    return cluster.readVersion(named, { plural: 'things', namespaced: true }, { namespace, signal })
  }
  async function answerOne(): Promise<void> {
    open.shift()?.answer()
    await settle()
  }
  return { cluster, state, open, read, answerOne, endLongTurns }
}

async function settle(): Promise<void> {
  for (let times = 0; times < 20; times += 1) await setImmediate()
}

const BUSY = Array.from({ length: 10 }, (_, i) => `busy-${i}`)

t.test('objects that were large are read a few at once, in turns of the namespaces', async (t) => {
  const { cluster, state, open, read, answerOne } = stage()
  const readAll = (): Promise<unknown>[] =>
    BUSY.flatMap((namespace) => ['one', 'two', TOO_LARGE].map((name) => read(namespace, name)))
  await Promise.all([...readAll(), read('shop', 'large'), read('shop', 'small')])
  state.waits = true
  const all = readAll()
  await settle()
  t.equal(open.length, OF_GROUP)
  all.push(read('shop', 'small'))
  await settle()
  t.equal(open.pop()?.path, '/api/v1/namespaces/shop/things/small', 'what is small does not wait')
  const ref = { kind: 'GitCommit', namespace: 'shop', name: 'new' } as const
  all.push(cluster.readResource(ref))
  await settle()
  t.match(open.pop(), { path: /gitcommits\/new$/ }, 'nor what is not known yet')
  all.push(read('shop', 'large'))
  let turns = 0
  for (; !open.some(({ path }) => path.endsWith('large')); turns += 1) await answerOne()
  t.ok(turns <= BUSY.length + OF_GROUP, `${turns} others had a turn before`)
  while (open.length > 0) await answerOne()
})

t.test('what is read for the first time is read a few at once, and then as what it is', async (t) => {
  const { cluster, state, open, answerOne } = stage()
  const readAll = (namespace: string): Promise<unknown>[] =>
    ['one', 'two', 'three', 'four'].map((name) =>
      cluster.readResource({ kind: 'GitCommit', namespace, name }),
    )
  state.waits = true
  const all = BUSY.flatMap(readAll)
  await settle()
  t.equal(open.length, OTHERS_OF_GROUP, 'of forty')
  all.push(cluster.readResource({ kind: 'GitCommit', namespace: 'shop', name: 'small' }))
  let turns = 0
  for (; !open.some(({ path }) => path.endsWith('small')); turns += 1) await answerOne()
  t.ok(turns <= BUSY.length + OTHERS_OF_GROUP, `${turns} others had a turn before`)
  all.push(...BUSY.flatMap(readAll))
  let most = 0
  while (open.length > 0) {
    most = Math.max(most, open.length)
    await answerOne()
  }
  t.ok(most <= OTHERS_OF_GROUP + OF_GROUP, `${most} at once`)
  all.push(...BUSY.map((namespace) => cluster.readResource({ kind: 'GitCommit', namespace, name: 'new' })))
  await settle()
  t.equal(open.length, OF_GROUP, 'those of whom all were large')
  while (open.length > 0) await answerOne()
  await Promise.all(all)
})

t.test('of all groups there are a few at once as well, and resources are read so', async (t) => {
  const { cluster, state, open, read } = stage()
  const groups = ['', 'apps/', 'batch/']
  const ref = { kind: 'GitCommit', namespace: 'team', name: 'large' } as const
  const readAll = (): Promise<unknown>[] => [
    ...groups.flatMap((group) => ['one', 'two', 'three'].map((name) => read('team', name, NEVER, group))),
    cluster.readResource(ref),
  ]
  await Promise.all(readAll())
  state.waits = true
  void Promise.all(readAll())
  await settle()
  t.equal(open.length, OF_ALL)
  t.ok(open.filter(({ path }) => path.startsWith('/api/')).length <= OF_GROUP)
})

t.test('APIs that hang keep no large object of another one waiting for long', async (t) => {
  const { state, open, read, endLongTurns } = stage()
  const hang = (): Promise<unknown>[] =>
    ['one.example.com/', 'two.example.com/'].flatMap((group) =>
      BUSY.map((namespace) => read(namespace, 'large', NEVER, group)),
    )
  await Promise.all([...hang(), read('shop', 'large'), read('shop', 'large', NEVER, 'apps/')])
  state.waits = true
  const all = hang()
  await settle()
  t.equal(open.length, PASSED_ON)
  all.push(read('shop', 'large', NEVER, 'apps/'), read('shop', 'large'))
  await settle()
  t.match(
    open.slice(PASSED_ON),
    [{ path: '/api/v1/namespaces/shop/things/large' }],
    'what the API server serves itself does not wait for it',
  )
  await endLongTurns()
  t.ok(open.some(({ path }) => path === '/apis/apps/v1/namespaces/shop/things/large'))
  state.waits = false
  for (const { answer } of open.splice(0)) answer()
  await Promise.all(all)
})

t.test('a wait ends with the signal, and what is not large any more does not wait', async (t) => {
  const { state, open, read } = stage()
  const names = ['one', 'two', 'three']
  await Promise.all(names.map((name) => read('team', name)))
  state.waits = true
  const over = new AbortController()
  const reads = names.map((name) => read('team', name, over.signal))
  const third = t.rejects(reads[2] ?? Promise.resolve(), { name: 'Failure', reason: 'Timeout' })
  await settle()
  over.abort()
  await third
  state.labels = {}
  state.waits = false
  for (const { answer } of open.splice(0)) answer()
  await settle()
  await read('team', 'three')
  state.waits = true
  for (const name of names) void read('team', name)
  await settle()
  t.equal(open.length, names.length)
})

t.test('ten namespaces that read large objects all the time are known by it', async (t) => {
  let now = 0
  const asked: string[] = []
  const open: (() => void)[] = []
  let waits = false
  const reads = shareLargeReads(
    async ({ path }) => {
      asked.push(path)
      if (waits) await new Promise<void>((resolve) => open.push(resolve))
      return { status: 200, text: 'x'.repeat(100_000) }
    },
    { elapsed: () => now, wait: async () => undefined },
  )
  const read = (namespace: string): Promise<unknown> =>
    reads({ namespace })({ method: 'GET', path: `/api/v1/${namespace}` })
  await Promise.all([...BUSY, 'shop'].map(read))
  waits = true
  const all = BUSY.flatMap((namespace) => Array.from({ length: 8 }, () => read(namespace)))
  async function answerOne(): Promise<void> {
    now += 50
    open.shift()?.()
    await settle()
  }
  await settle()
  for (let times = 0; times < 20; times += 1) await answerOne()
  const before = asked.length
  all.push(read('shop'))
  await answerOne()
  t.same(asked.slice(before), ['/api/v1/shop'])
  while (open.length > 0) await answerOne()
  await Promise.all(all)
})

t.test('after a large read there is a rest, which its reader does not wait for', async (t) => {
  let now = 0
  const rests: { readonly ms: number; readonly end: () => void }[] = []
  const reads = shareLargeReads(
    async ({ path }) => {
      now += 400
      if (path.includes(TOO_LARGE)) throw new Failure('NotSupported', 'The API server answered with more.')
      return { status: 200, text: 'x'.repeat(path.endsWith('small') ? 10 : 512 * 1024) }
    },
    {
      elapsed: () => now,
      wait: (ms) => new Promise<void>((resolve) => rests.push({ ms, end: resolve })),
    },
  )
  const read = (name: string): Promise<unknown> =>
    reads({ namespace: 'team' })({ method: 'GET', path: `/api/v1/${name}` }).catch(() => 'refused')
  await Promise.all([read('one'), read('small'), read(TOO_LARGE)])
  t.same(rests, [], 'not where it was not known to be large')
  await Promise.all([read('one'), read(TOO_LARGE), read('small')])
  t.same(
    rests.map(({ ms }) => ms),
    [256, 400],
    'no longer than its size explains',
  )
  let isRead = false
  const next = read('one').then(() => (isRead = true))
  await settle()
  t.notOk(isRead, 'both places rest')
  for (const { end } of rests) end()
  await next
})
