import t from 'tap'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import type { Walk } from '../../../functions/cluster/sweep/walk.ts'
import { makeWalk } from '../../../functions/cluster/sweep/walk.ts'
import type { ObjectRef } from '../../../functions/domain/resource/resource.ts'
import type { StoredResource } from '../../harness/paging-server.ts'
import { pagingServer, pendingIn } from '../../harness/paging-server.ts'

const OWN_PAGES = 4

/** A walk over these resources; `visited` are the names of a round by their namespace. */
function stage(resources: readonly StoredResource[]) {
  const api = pagingServer()
  api.store(resources)
  const walk = makeWalk(connectCluster(api.server), { kind: 'GitCommit', phase: 'Pending' }, OWN_PAGES)
  const rooms: { hasRoom: (namespace: string) => boolean; visit: (ref: ObjectRef) => void } = {
    hasRoom: () => true,
    visit: () => undefined,
  }

  async function visited(leg: keyof Walk): Promise<ReadonlyMap<string, Set<string>>> {
    const names = new Map<string, Set<string>>()
    await walk[leg]({
      visit: async (rows) => {
        for (const { ref } of rows) {
          rooms.visit(ref)
          names.set(ref.namespace, (names.get(ref.namespace) ?? new Set<string>()).add(ref.name))
        }
      },
      hasRoom: (namespace) => rooms.hasRoom(namespace),
      signal: new AbortController().signal,
    })
    return names
  }
  /** How many rows the API server sends in a round. */
  async function rowsOf(leg: keyof Walk): Promise<number> {
    const before = api.asked.rows
    await visited(leg)
    return api.asked.rows - before
  }
  return { api, rooms, visited, rowsOf }
}

const few = ['b', 'm', 'z'].flatMap((namespace) => pendingIn(namespace, 60))

t.test('namespaces with a few resources are visited completely, in pages', async (t) => {
  const { visited, api } = stage(few)
  const names = await visited('common')
  t.same([...names].map(([namespace, of]) => [namespace, of.size]), [['b', 60], ['m', 60], ['z', 60]]) // prettier-ignore
  t.equal(api.asked.pages, 4)
  t.equal((await visited('large')).size, 0)
})

t.test('100,000 resources of one namespace cost the others a few pages, once', async (t) => {
  for (const large of ['a', 'n', 'zz']) {
    const { visited, rowsOf, api } = stage([...few, ...pendingIn(large, 100_000)])
    const names = await visited('common')
    t.same([names.get('b')?.size, names.get('m')?.size, names.get('z')?.size], [60, 60, 60])
    t.ok(api.asked.rows <= 1_000, `${large}: ${api.asked.rows} rows`)
    t.equal(await rowsOf('common'), few.length, 'from the second round on')
    t.equal(await rowsOf('large'), OWN_PAGES * 50)
  }
})

t.test('a namespace whose few rows are large is read by itself, in smaller parts', async (t) => {
  const heavy = pendingIn('a', 300).map((resource) => ({ ...resource, annotated: 70_000 }))
  const { visited, rowsOf } = stage([...few, ...heavy])
  t.equal((await visited('common')).get('z')?.size, 60)
  t.equal(await rowsOf('common'), few.length)
  t.equal(await rowsOf('large'), 50)
})

t.test('two large namespaces share the pages of a round, and each goes on where it was', async (t) => {
  const { visited, api } = stage([...pendingIn('a', 2_000), ...pendingIn('b', 2_000)])
  await visited('common')
  const seen = { a: new Set<string>(), b: new Set<string>() }
  for (let round = 0; round < 20; round += 1) {
    const names = await visited('large')
    t.same([names.get('a')?.size, names.get('b')?.size], [100, 100])
    for (const name of names.get('a') ?? []) seen.a.add(name)
    for (const name of names.get('b') ?? []) seen.b.add(name)
  }
  t.same([seen.a.size, seen.b.size], [2_000, 2_000])
  t.ok(api.asked.pages < 150, String(api.asked.pages))
})

t.test('a page whose rows did not all have room is visited again, and no row is passed over', async (t) => {
  const { visited, rooms } = stage(pendingIn('a', 700))
  await visited('common')
  const announced = new Set<string>()
  const mostInRound = 60
  for (let round = 0; round < 12; round += 1) {
    const ofRound = new Set<string>()
    rooms.hasRoom = () => ofRound.size < mostInRound
    rooms.visit = ({ name }) => {
      if (ofRound.size < mostInRound && !announced.has(name)) ofRound.add(name)
      for (const one of ofRound) announced.add(one)
    }
    await visited('large')
  }
  t.equal(announced.size, 700)
})

t.test('a namespace without room costs nothing, and leaves the pages to another', async (t) => {
  const { visited, rooms } = stage([...pendingIn('a', 2_000), ...pendingIn('b', 2_000)])
  await visited('common')
  rooms.hasRoom = (namespace) => namespace === 'b'
  const names = await visited('large')
  t.same([names.get('a'), names.get('b')?.size], [undefined, 200])
  rooms.hasRoom = () => false
  t.equal((await visited('large')).size, 0)
})

t.test('a namespace whose backlog is gone is one of many again', async (t) => {
  const { visited, api } = stage([...few, ...pendingIn('a', 2_000)])
  await visited('common')
  api.store([...few, ...pendingIn('a', 7)])
  t.equal((await visited('common')).get('a'), undefined)
  t.equal((await visited('large')).get('a')?.size, 7)
  t.equal((await visited('common')).get('a')?.size, 7)
  t.equal((await visited('large')).size, 0)
})

t.test('a round that fails goes on at the same page', async (t) => {
  const { visited, api } = stage(few)
  const busy = async () => ({ status: 429, text: '{}' })
  let pages = 0
  api.fault = () => ((pages += 1) > 2 ? busy() : undefined)
  await t.rejects(visited('common'), { name: 'Failure', reason: 'RateLimited' })
  api.fault = () => undefined
  t.same([...(await visited('common')).keys()], ['m', 'z'])
  t.equal((await visited('common')).size, 3, 'the next round begins at the start')
})

t.test('a page that is refused twice in a row makes the list begin again', async (t) => {
  const { visited, api } = stage(few)
  api.fault = ({ path }) =>
    path.includes('continue=') ? Promise.resolve({ status: 400, text: '{}' }) : undefined
  await t.rejects(visited('common'), { name: 'Failure', reason: 'ProviderUnavailable' })
  await t.rejects(visited('common'), { name: 'Failure', reason: 'ProviderUnavailable' })
  api.fault = () => undefined
  t.equal((await visited('common')).size, 3)
})
