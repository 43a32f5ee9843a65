import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { openLeftAlone } from '../../functions/attempt/left-alone.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'

const REF: ObjectRef = { kind: 'GitCommit', namespace: 'team', name: 'shop', uid: 'one', generation: 1 }
const MINUTE = 60_000

function stage() {
  const time = { passed: 0 }
  return { ...openLeftAlone(() => time.passed), time }
}

t.test('a resource is left alone for a minute, then for two, and so on up to an hour', async (t) => {
  const { has, add, time } = stage()
  const pauses: number[] = []
  for (let i = 0; i < 9; i += 1) {
    add(REF)
    const began = time.passed
    while (has(REF)) time.passed += MINUTE
    pauses.push((time.passed - began) / MINUTE)
  }
  t.same(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60])
})

t.test('one that was stored for a while begins with a minute again', async (t) => {
  const { has, add, time } = stage()
  add(REF)
  time.passed += 2 * MINUTE + 1
  add(REF)
  time.passed += MINUTE
  t.notOk(has(REF))
})

t.test('another spec, request or object of its name is not left alone', async (t) => {
  const { has, add } = stage()
  add({ ...REF, request: 'aaaaaaaa' })
  t.ok(has({ ...REF, request: 'aaaaaaaa' }))
  t.ok(has({ kind: 'GitCommit', namespace: 'team', name: 'shop' }), 'the sender knows no more')
  t.notOk(has({ ...REF, request: 'bbbbbbbb' }))
  t.notOk(has({ ...REF, request: 'aaaaaaaa', generation: 2 }))
  t.notOk(has({ ...REF, request: 'aaaaaaaa', uid: 'two' }))
  t.notOk(has({ ...REF, request: 'aaaaaaaa', name: 'other' }))
})

t.test('ten thousand are remembered', async (t) => {
  const { has, add } = stage()
  for (let i = 0; i <= 10_000; i += 1) add({ ...REF, name: `shop-${i}` })
  t.notOk(has({ ...REF, name: 'shop-0' }))
  t.ok(has({ ...REF, name: 'shop-1' }))
})

t.test('a resource whose status has no room costs no call while it is left alone', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const calls: string[] = []
  const full = new Failure('NotSupported', 'There is no room.')
  const readResource: typeof world.cluster.readResource = (ref) => {
    calls.push('read')
    return world.cluster.readResource(ref)
  }
  const patchStatus = (): Promise<unknown> => {
    calls.push('write')
    return Promise.reject(full)
  }
  const cluster = { ...world.cluster, readResource, patchStatus }
  const send = (): Promise<void> =>
    handle(REF, finder(cluster, { reads: 8, waits: 8 }), { ...world, cluster })
  await send()
  t.same(calls, ['read', 'write', 'read'], 'the sender need not repeat it')
  await send()
  t.equal(calls.length, 3)
  t.match(world.logged, [{ reason: 'NotSupported', resource: { name: 'shop' } }])
  t.same(world.cluster.notices, [{ type: 'Warning', reason: 'NotSupported', message: 'There is no room.' }])
})

t.test('a resource that cannot be read either is left alone as well', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  let reads = 0
  const cluster: typeof world.cluster = {
    ...world.cluster,
    readResource: (ref) =>
      (reads += 1) === 1 ? world.cluster.readResource(ref) : Promise.reject(new Failure('Timeout', 'None.')),
    patchStatus: () => Promise.reject(new Failure('NotSupported', 'There is no room.')),
  }
  await handle(REF, finder(cluster, { reads: 8, waits: 8 }), { ...world, cluster })
  t.equal(reads, 2)
  t.ok(world.leftAlone.has(REF))
})

t.test('a result for which there is no room is written once', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  let writes = 0
  const patchStatus: typeof world.cluster.patchStatus = (resource, status) => {
    writes += 1
    if (status.phase === 'Progressing') return world.cluster.patchStatus(resource, status)
    return Promise.reject(new Failure('NotSupported', 'There is no room.'))
  }
  const cluster = { ...world.cluster, patchStatus }
  await handle(REF, finder(cluster, { reads: 8, waits: 8 }), { ...world, cluster })
  t.equal(writes, 2)
})
