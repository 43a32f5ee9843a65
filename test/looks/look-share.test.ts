import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { countLooks, shareLooks } from '../../functions/looks/look-share.ts'
import { gitCommit, memoryWorld, STAMPED } from '../harness/memory-world.ts'

const MAPS = 20
const FOLLOWERS = 10
const requester = JSON.stringify({
  username: 'developer',
  groups: ['developers'],
  at: new Date('2026-03-01T10:00:00Z'),
})
const apiVersion = 'v1'
const kind = 'ConfigMap'

/** Followers of many ConfigMaps in these namespaces, and how many looks of each wait for the API server at most. */
async function stage(namespaces: readonly string[]) {
  const memory = memoryWorld()
  const { cluster } = memory
  const open: (() => void)[] = []
  const under = new Map<string, number>()
  const most = new Map<string, number>()
  const files = Array.from({ length: MAPS }, (_, i) => ({
    path: `${i}.yaml`,
    resourceRef: { apiVersion, kind, name: `map-${i}` },
  }))
  const reads = { of: 0 }
  const readResource: typeof cluster.readResource = (ref) => {
    reads.of += 1
    return cluster.readResource(ref)
  }
  const find = finder({ readResource }, { reads: 64, waits: 8 })
  const send = (namespace: string, name: string): Promise<void> =>
    handle({ kind: 'GitCommit', namespace, name }, find, { ...memory, cluster: slow })
  async function readVersion(...of: Parameters<typeof cluster.readVersion>): Promise<string> {
    const [{ namespace }] = of
    for (const key of [namespace, 'all']) {
      under.set(key, (under.get(key) ?? 0) + 1)
      most.set(key, Math.max(most.get(key) ?? 0, under.get(key) ?? 0))
    }
    await new Promise<void>((resolve) => open.push(resolve))
    for (const key of [namespace, 'all']) under.set(key, (under.get(key) ?? 0) - 1)
    return cluster.readVersion(...of)
  }
  const slow = { ...cluster, readVersion }
  const names = Array.from({ length: FOLLOWERS }, (_, i) => `follower-${i}`)
  for (const namespace of namespaces) {
    cluster.apply({
      ...{ apiVersion, kind: 'Secret', type: 'Opaque' },
      ...{ metadata: { name: 'git', namespace }, stringData: { token: 'token-of-the-team' } },
    })
    for (let i = 0; i < MAPS; i += 1)
      cluster.apply({ apiVersion, kind, metadata: { name: `map-${i}`, namespace }, data: {} })
    for (const name of names) {
      const one = gitCommit({ sync: 'OnChange', resourceRef: undefined, files }, STAMPED)
      const annotations = { ...STAMPED, 'commitlet.dev/requester': requester }
      cluster.apply({ ...one, metadata: { name, namespace, annotations } })
      await handle({ kind: 'GitCommit', namespace, name }, find, memory)
    }
  }
  const flood = (namespace: string): Promise<unknown> =>
    Promise.all(names.map((name) => send(namespace, name)))
  async function answered(looks: Promise<unknown>): Promise<void> {
    const seen = { done: false }
    void looks.then(() => (seen.done = true))
    while (!seen.done) {
      await settle()
      for (const resolve of open.splice(0)) resolve()
    }
  }
  return { most, reads, flood, answered }
}

async function settle(): Promise<void> {
  for (let times = 0; times < 500; times += 1) await Promise.resolve()
}

t.test('of the followers of one namespace, eight sources are looked at at once', async (t) => {
  const { most, flood, answered } = await stage(['evil', 'shop'])
  const floods = flood('evil')
  await settle()
  t.equal(most.get('evil'), 8)
  const honest = flood('shop')
  await settle()
  t.equal(most.get('shop'), 8, 'another namespace does not wait')
  await answered(Promise.all([floods, honest]))
})

t.test('of all followers, sixteen sources are looked at at once', async (t) => {
  const namespaces = ['one', 'two', 'three']
  const { most, flood, answered } = await stage(namespaces)
  await answered(Promise.all(namespaces.map(flood)))
  t.equal(most.get('all'), 16)
})

t.test('followers that wait for their turn keep nothing, and are read again', async (t) => {
  const { reads, flood, answered } = await stage(['evil'])
  const before = reads.of
  const floods = flood('evil')
  await settle()
  t.equal(reads.of - before, FOLLOWERS, 'each was read once')
  await answered(floods)
  t.equal(reads.of - before, FOLLOWERS + FOLLOWERS - 8, 'and again if it had waited')
})

t.test('one look of a namespace waits for one or two of each other, however many these have', async (t) => {
  const inShare = shareLooks(() => 0)
  const begun: string[] = []
  const open: (() => void)[] = []
  const lookFor = (namespace: string): Promise<void> =>
    inShare({ namespace, apiVersion }, () => {
      begun.push(namespace)
      return new Promise<void>((resolve) => open.push(resolve))
    })
  const busy = Array.from({ length: 10 }, (_, i) => `busy-${i}`)
  for (const namespace of busy) for (let i = 0; i < 100; i += 1) void lookFor(namespace)
  await settle()
  void lookFor('shop')
  for (let ended = 1; ended <= busy.length + 1; ended += 1) {
    open.shift()?.()
    await settle()
  }
  t.ok(begun.includes('shop'), 'it does not wait for the 64 that were there before')
})

t.test('no look waits for those at APIs of two other groups that hang', async (t) => {
  const inShare = shareLooks(() => 0)
  const begun: string[] = []
  function lookAt(group: string, namespace: string): void {
    void inShare({ namespace, apiVersion: `${group}v1` }, () => {
      begun.push(group)
      return new Promise<void>(() => undefined)
    })
  }
  for (const group of ['things.example.com/', 'others.example.com/'])
    for (let i = 0; i < 10; i += 1) for (let looks = 0; looks < 8; looks += 1) lookAt(group, `${group}${i}`)
  await settle()
  t.equal(begun.length, 8, 'four of each group')
  lookAt('', 'shop')
  lookAt('apps/', 'shop')
  await settle()
  t.same(begun.slice(8).toSorted(), ['', 'apps/'])
  for (let i = 0; i < 20; i += 1) lookAt(`more-${i}.example.com/`, `more-${i}`)
  for (let i = 0; i < 15; i += 1) lookAt('', `more-${i}`)
  await settle()
  const count = (isCore: boolean): number => begun.filter((group) => (group === '') === isCore).length
  t.equal(count(false), 12, 'of all groups but that of the core API')
  t.equal(count(true), 16)
})

t.test(
  'of looks at what is missing, those at APIs that hang leave room to others after a second',
  async (t) => {
    const over = Promise.withResolvers<undefined>()
    const waits: number[] = []
    const wait = (milliseconds: number): Promise<undefined> => {
      waits.push(milliseconds)
      return over.promise
    }
    const underWay = countLooks({ wait })
    const owners = Array.from({ length: 12 }, (_, index) => `team-${index % 3}`)
    const leaves = owners.map((owner) => underWay.enter(owner, 'hangs.example.com/v1'))
    for (let looks = 0; looks < 4; looks += 1) underWay.enter('core', 'v1')
    t.notOk(underWay.hasRoom() || underWay.hasShare('team-0'))
    over.resolve(undefined)
    await setImmediate()
    t.ok(underWay.hasRoom() && underWay.hasShare('team-0'))
    t.notOk(underWay.hasShare('core'), 'the API server answers those')
    for (const leave of leaves) leave()
    for (let looks = 0; looks < 12; looks += 1) underWay.enter('other', 'v1')
    t.notOk(underWay.hasRoom(), 'each counts once')
    t.same([...new Set(waits)], [1_000])
  },
)
