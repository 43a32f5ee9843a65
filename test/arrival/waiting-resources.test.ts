import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import { makeWaitingSearch } from '../../functions/arrival/waiting-resources.ts'
import type { ApiAnswer, ApiCall, ApiServer } from '../../functions/cluster/api-server.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import { openFollowedObjects } from '../../functions/followed-objects.ts'
import type { StoredResource } from '../harness/paging-server.ts'
import { pagingServer } from '../harness/paging-server.ts'
import { waitFor } from '../harness/wait.ts'

/** Searches at an API server's stand-in; a second takes ten milliseconds. */
function stage(resources: readonly StoredResource[], everywhere = false) {
  const api = pagingServer()
  api.store(resources)
  const lines: object[] = []
  const begun: string[] = []
  const parts = {
    cluster: connectCluster(api.server),
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    elapsed: () => performance.now() * 100,
    wait: (ms: number, signal: AbortSignal) => pause(ms / 100, undefined, { signal }),
    followed: openFollowedObjects(),
  }
  const search = makeWaitingSearch(parts, everywhere)
  const begin = ({ namespace, name }: ObjectRef): boolean => begun.push(`${namespace}/${name}`) > 0
  const ask = (namespace?: string) =>
    search({ ...(namespace === undefined ? {} : { namespace }), names: ['git'] }, begin, 'source')
  return { api, begun, lines, ask, lookFor: (namespace?: string) => ask(namespace).ended }
}

function waiting(namespace: string, name: string, reason: string): StoredResource {
  return { kind: 'GitCommit', namespace, name, phase: 'Retrying', observed: 1, reason }
}

function following(namespace: string, name: string, reason: string): StoredResource {
  const phase = reason === 'ReferenceForbidden' ? 'Failed' : 'Succeeded'
  return { kind: 'GitCommit', namespace, name, phase, observed: 1, reason, follows: '' }
}

/** A search that asks this server, by a clock that stands still, and rests for no time. */
function searchBy(server: ApiServer): ReturnType<typeof makeWaitingSearch> {
  const cluster = connectCluster(server)
  const log = pino({ level: 'silent' })
  const clock = { elapsed: () => 0, wait: async () => undefined }
  return makeWaitingSearch({ cluster, log, ...clock, followed: openFollowedObjects() }, false)
}

const LONGEST_REST_OF_PAGE_MS = 1_000

const RESOURCES = [
  waiting('shop', 'missing', 'ReferenceNotFound'),
  waiting('shop', 'broken', 'CredentialsInvalid'),
  waiting('shop', 'denied', 'AuthenticationFailed'),
  waiting('shop', 'down', 'NetworkError'),
  { ...waiting('shop', 'done', 'ReferenceNotFound'), phase: 'Failed' as const },
  { ...waiting('shop', 'request', 'ReferenceNotFound'), kind: 'PullRequest' as const },
  waiting('team', 'other', 'ReferenceNotFound'),
  following('shop', 'follower', 'Succeeded'),
  following('shop', 'same', 'UpToDate'),
  following('shop', 'ended', 'ReferenceForbidden'),
]
const OF_SHOP = ['shop/broken', 'shop/denied', 'shop/follower', 'shop/missing', 'shop/request', 'shop/same']

t.test('an object that changed is a reason to look at what waits or follows in its namespace', async (t) => {
  const { begun, lookFor } = stage(RESOURCES)
  await lookFor('shop')
  t.strictSame(begun.toSorted(), OF_SHOP)
})

t.test('no resource refers to an object of the cluster, unless the operator allows it', async (t) => {
  const [one, other] = [stage(RESOURCES), stage(RESOURCES, true)]
  await one.lookFor()
  t.strictSame(one.begun, [])
  t.equal(one.api.asked.pages, 0)
  await other.lookFor()
  t.strictSame(other.begun.toSorted(), [...OF_SHOP, 'team/other'])
})

t.test(
  'where any may refer to it, very many of another namespace do not keep out those of its own',
  async (t) => {
    const many = Array.from({ length: 1_200 }, (_, i) => waiting('a-first', `${i}`, 'ReferenceNotFound'))
    const { begun, lookFor } = stage([...many, waiting('shop', 'missing', 'ReferenceNotFound')], true)
    await lookFor('shop')
    t.ok(begun.includes('shop/missing'))
    t.ok(begun.includes('a-first/0'))
  },
)

t.test('events that come while a namespace rests share its next search', async (t) => {
  const { api, begun, lookFor } = stage(RESOURCES)
  await Promise.all(Array.from({ length: 50 }, () => lookFor('shop')))
  t.equal(api.asked.pages, 3)
  await Promise.all([...Array.from({ length: 50 }, () => lookFor('shop')), lookFor('team')])
  t.equal(api.asked.pages, 9, 'one more of each namespace, for two kinds and for followers')
  t.equal(begun.filter((name) => name === 'shop/missing').length, 2)
})

t.test('a search that is planned, and has not begun, is shared', async (t) => {
  const { ask } = stage(RESOURCES)
  const asked = [ask('shop'), ask('shop'), ask('team')]
  t.strictSame(
    asked.map(({ isShared }) => isShared),
    [false, true, false],
  )
  await Promise.all(asked.map(({ ended }) => ended))
  const resting = [ask('shop'), ask('shop')]
  t.strictSame(
    resting.map(({ isShared }) => isShared),
    [false, true],
  )
  await Promise.all(resting.map(({ ended }) => ended))
})

t.test('a namespace of one page rests for two seconds at most, however slow the API server is', async (t) => {
  const rests: number[] = []
  const time = { passed: 0 }
  const { server, store } = pagingServer()
  const many = Array.from({ length: 250 }, (_, index) => waiting('many', `r-${index}`, 'ReferenceNotFound'))
  store([...RESOURCES, ...many, { ...following('heavy', 'labels', 'Succeeded'), annotated: 1_000_000 }])
  async function slowServer(call: ApiCall): Promise<ApiAnswer> {
    time.passed += 3_000
    return server(call)
  }
  const parts = {
    cluster: connectCluster(slowServer),
    log: pino({ level: 'silent' }),
    elapsed: () => time.passed,
    wait: async (ms: number) => void rests.push(ms),
    followed: openFollowedObjects(),
  }
  const search = makeWaitingSearch(parts, false)
  for (const namespace of ['shop', 'many', 'heavy'])
    await search({ namespace, names: ['git'] }, () => true, 'source').ended
  const ofNamespaces = rests.filter((ms) => ms > LONGEST_REST_OF_PAGE_MS)
  t.same(ofNamespaces, [2_000, 9 * 9 * 3_000, 9 * 3 * 3_000], 'of more for nine times as long as it took')
  t.equal(rests.length, ofNamespaces.length + 15, 'one more after each page')
})

/** How many pages of ten namespaces that list all the time come before those of another one, whose lists took so long before. */
async function pagesBefore(lagMs: number): Promise<number> {
  const { promise: over, resolve: end } = Promise.withResolvers<undefined>()
  const [open, time] = [[] as (() => void)[], { passed: 0, answers: 0 }]
  const { server, store } = pagingServer()
  store(RESOURCES)
  async function slowServer(call: ApiCall): Promise<ApiAnswer> {
    if (call.path.includes('/shop/')) time.passed += lag
    else await Promise.race([over, new Promise<void>((go) => open.push(go))])
    return server(call)
  }
  const parts = {
    cluster: connectCluster(slowServer),
    log: pino({ level: 'silent' }),
    elapsed: () => time.passed,
    wait: async () => undefined,
    followed: openFollowedObjects(),
  }
  const search = makeWaitingSearch(parts, false)
  let lag = lagMs
  for (let times = 0; times < 10; times += 1)
    await search({ namespace: 'shop', names: ['git'] }, () => true, 'source').ended
  lag = 0
  async function listAgainAndAgain(namespace: string): Promise<void> {
    while (time.answers < 200) await search({ namespace, names: ['a'] }, () => true, 'source').ended
  }
  async function answerOne(): Promise<void> {
    time.passed += 250
    time.answers += 1
    open.shift()?.()
    for (let turns = 0; turns < 20; turns += 1) await turn()
  }
  const busy = Array.from({ length: 10 }, (_, i) => listAgainAndAgain(`busy-${i}`))
  while (time.answers < 100) await answerOne()
  const found = search({ namespace: 'shop', names: ['git'] }, () => true, 'source').ended.then(() => true)
  let waits = 0
  for (; !(await Promise.race([found, turn(false)])); waits += 1) await answerOne()
  time.answers = 200
  end(undefined)
  await Promise.all(busy)
  return waits
}

t.test('ten namespaces that list all the time keep another one waiting for few of their pages', async (t) => {
  t.ok((await pagesBefore(0)) <= 6)
  t.ok((await pagesBefore(3_000)) <= 6, 'also one whose lists took long, because the API server was slow')
})

t.test('no other page waits for those of very many labels, of which one is listed at once', async (t) => {
  const open: (() => void)[] = []
  let waits = false
  const { server, store } = pagingServer()
  const busy = Array.from({ length: 10 }, (_, i) => `busy-${i}`)
  store([
    ...RESOURCES,
    ...busy.map((name) => ({ ...following(name, 'labels', 'Succeeded'), annotated: 1_000_000 })),
  ])
  async function slowServer(call: ApiCall): Promise<ApiAnswer> {
    if (waits && call.path.includes('/busy')) await new Promise<void>((resolve) => open.push(resolve))
    return server(call)
  }
  const search = searchBy(slowServer)
  const searchAll = (): Promise<unknown> =>
    Promise.all(busy.map((namespace) => search({ namespace, names: ['git'] }, () => true, 'source').ended))
  const searchShop = (): Promise<void> =>
    search({ namespace: 'shop', names: ['git'] }, () => true, 'source').ended
  await Promise.all([searchAll(), searchShop()])
  waits = true
  const all = searchAll()
  for (let turns = 0; turns < 20; turns += 1) await turn()
  t.equal(open.length, 1)
  await searchShop()
  waits = false
  open.pop()?.()
  await all
})

t.test('a search waits for one or two pages of each other namespace', async (t) => {
  const open: (() => void)[] = []
  const asked: string[] = []
  const { server, store } = pagingServer()
  store(RESOURCES)
  async function slowServer(call: ApiCall): Promise<ApiAnswer> {
    asked.push(call.path)
    await new Promise<void>((resolve) => open.push(resolve))
    return server(call)
  }
  const search = searchBy(slowServer)
  const all = Array.from({ length: 10 }, (_, i) =>
    search({ namespace: `busy-${i}`, names: ['a'] }, () => true, 'source'),
  )
  await turn()
  t.equal(asked.length, 1, 'what nobody knows yet')
  all.push(search({ namespace: 'shop', names: ['git'] }, () => true, 'source'))
  let ended = 0
  for (; !asked.some((path) => path.includes('/shop/')); ended += 1) {
    open.shift()?.()
    await turn()
  }
  t.ok(ended <= 11, `${ended} have ended before`)
  const over = Promise.all(all.map((one) => one.ended)).then(() => open.push(() => undefined))
  while (open.length > 0 || asked.length < 33) {
    open.shift()?.()
    await turn()
  }
  await over
})

t.test('of very many that wait, a search names a thousand', async (t) => {
  const many = Array.from({ length: 3_000 }, (_, index) => waiting('shop', `r-${index}`, 'ReferenceNotFound'))
  const { api, begun, lookFor } = stage(many)
  await lookFor('shop')
  t.equal(begun.length, 1_056)
  t.equal(api.asked.pages, 25)
})

t.test('of very many that follow, a search names ten thousand', async (t) => {
  const many = Array.from({ length: 10_100 }, (_, index) => following('shop', `r-${index}`, 'Succeeded'))
  const { begun, lookFor } = stage(many)
  await lookFor('shop')
  t.equal(begun.length, 10_056)
})

t.test('where the API server does not answer, the search is made again', async (t) => {
  const { api, begun, lines, lookFor } = stage(RESOURCES)
  let failing = 3
  api.fault = ({ path }) =>
    path.includes('spec.sync') && failing-- > 0 ? Promise.resolve({ status: 503, text: '{}' }) : undefined
  await lookFor('shop')
  t.ok(begun.includes('shop/follower'), 'nobody else tells of what has changed')
  t.equal(lines.length, 3)
  let asked = 0
  api.fault = () => {
    asked += 1
    return Promise.resolve({ status: 503, text: '{}' })
  }
  await lookFor('shop')
  t.equal(asked, 4 * 3, 'but not without end')
})

t.test('without the right to list them, the log says so', async (t) => {
  const { api, begun, lines, lookFor } = stage(RESOURCES)
  api.fault = () => Promise.resolve({ status: 403, text: '{}' })
  await lookFor('shop')
  t.strictSame(begun, [])
  t.match(lines, [{ level: 40, msg: /cannot be listed/ }])
  api.fault = () => undefined
  await waitFor('next search', async () => (await lookFor('shop'), begun[0]), 10_000)
})
