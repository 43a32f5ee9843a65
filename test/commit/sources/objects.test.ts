import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { collect } from '../../harness/collect.ts'
import { openLargeObjects } from '../../../functions/commit/sources/large-objects.ts'
import { openObjects, SIDE_BY_SIDE, type Reading } from '../../../functions/commit/sources/objects.ts'
import { asFailure, Failure } from '../../../functions/domain/failure.ts'
import { MISSING } from '../../../functions/domain/resource/waiting.ts'

const SERVED = new Map([['ConfigMap of v1', { plural: 'configmaps', namespaced: true }]])

const NEVER = new AbortController().signal

const NO_BOUND = { take: () => undefined, check: () => undefined }

function place(name: string, kind = 'ConfigMap') {
  return { field: `spec.files[${name}].resourceRef` as const, reference: { apiVersion: 'v1', kind, name } }
}

/** Objects that are read when `release` is called, as often as it is. */
function stage({
  share = async (work) => work(),
  room = NO_BOUND,
  signal = new AbortController().signal,
  large = openLargeObjects(() => 0),
  namespace = 'shop',
}: Partial<Pick<Reading, 'share' | 'room' | 'signal' | 'large' | 'namespace'>> = {}) {
  const waiting: (() => void)[] = []
  const asked: string[] = []
  const gone: string[] = []
  const seen: string[] = []
  const objects = openObjects({
    served: SERVED,
    namespace,
    saw(field, version) {
      if (version === MISSING) gone.push(field)
      else seen.push(`${field} ${version}`)
    },
    share,
    room,
    large,
    signal,
    cluster: {
      async readObject({ name, namespace }, _served, by) {
        if (name.startsWith('large') && by?.most !== undefined)
          throw new Failure('NotSupported', 'It has more than 1.5 MiB.')
        asked.push(name)
        await new Promise<void>((resolve) => waiting.push(resolve))
        if (name === 'bad') throw new Error('it cannot be read')
        return JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, namespace, uid: `uid-${name}`, resourceVersion: String(asked.length) },
          data: { name },
        })
      },
    },
  })
  const release = async () => {
    await setImmediate()
    for (const go of waiting.splice(0)) go()
    await setImmediate()
  }
  return { objects, asked, gone, seen, release }
}

t.test('an object is read once for all who ask before it is here, and again later', async (t) => {
  const { objects, asked, seen, release } = stage()
  const first = [objects.read(place('a'), () => 1), objects.read(place('a'), () => 2)]
  await release()
  t.same(await Promise.all(first), [1, 2])
  const later = objects.read(place('a'), (_object, { namespace }) => namespace)
  await release()
  t.equal(await later, 'shop')
  t.same(asked, ['a', 'a'])
  const field = 'spec.files[a].resourceRef'
  t.same(
    seen,
    [`${field} uid-a/1`, `${field} uid-a/1`, `${field} uid-a/2`],
    'each use has the version that it got',
  )
})

t.test('no object is read any more once the signal has fired', async (t) => {
  const over = new AbortController()
  const { objects, asked, release } = stage({ signal: over.signal })
  const names = Array.from({ length: 20 }, (_, i) => `n${i}`)
  const reads = Promise.allSettled(names.map((name) => objects.read(place(name), () => name)))
  await setImmediate()
  t.equal(asked.length, SIDE_BY_SIDE)
  const lost = new Failure('Conflict', 'Another attempt has taken over.')
  over.abort(lost)
  await release()
  const ends = await reads
  t.equal(asked.length, SIDE_BY_SIDE)
  t.same(ends.slice(SIDE_BY_SIDE), Array(12).fill({ status: 'rejected', reason: lost }))
})

t.test('at most eight objects are read at the same time, and one that fails stops no other', async (t) => {
  const { objects, asked, release } = stage()
  const names = ['bad', ...Array.from({ length: 20 }, (_, i) => `n${i}`)]
  const reads = names.map((name) => objects.read(place(name), () => name).catch(() => 'failed'))
  await setImmediate()
  t.equal(asked.length, SIDE_BY_SIDE)
  while (asked.length < names.length) await release()
  await release()
  t.same(await Promise.all(reads), ['failed', ...names.slice(1)])
})

t.test('a kind that was not reviewed is not read', async (t) => {
  const { objects, asked, gone } = stage()
  await t.rejects(
    objects.read(place('a', 'Widget'), () => 1),
    {
      reason: 'ReferenceNotFound',
      message:
        /^The cluster does not know the kind Widget of v1 \(yet\); install it or fix spec\.files\[a\]\.resourceRef\./,
    },
  )
  t.same(asked, [])
  t.same(gone, ['spec.files[a].resourceRef'], 'Commitlet can look for it')
})

t.test(
  'eight texts and one parsed object are in memory while those who asked wait for their share',
  async (t) => {
    const waiting: (() => void)[] = []
    const share: Reading['share'] = async (work) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return work()
    }
    const { objects, asked, release } = stage({ share })
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`)
    const reads = Promise.all(names.map((name) => objects.read(place(name), () => name)))
    for (let turns = 0; turns < 2 * names.length; turns += 1) {
      for (let i = 0; i < 5; i += 1) await release()
      t.equal(waiting.length, 1, 'one is parsed, or used')
      t.equal(asked.length, Math.min(names.length, SIDE_BY_SIDE + Math.floor(turns / 2)))
      waiting.shift()?.()
    }
    t.same(await reads, names)
  },
)

t.test('nothing is read once there is no room for it', async (t) => {
  const check = (): never => {
    throw new Error('full')
  }
  const { objects, asked } = stage({ room: { ...NO_BOUND, check } })
  await t.rejects(
    objects.read(place('a'), () => 1),
    { message: 'full' },
  )
  t.same(asked, [])
})

t.test(
  'of large objects, four are in memory at once for all attempts, and small ones beside them',
  async (t) => {
    const large = openLargeObjects(() => 0)
    const waiting: (() => void)[] = []
    const share: Reading['share'] = async (work) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return work()
    }
    const namespaces = ['one', 'one', 'one', 'two', 'three', 'four']
    const attempts = namespaces.map((namespace) => stage({ large, share, namespace }))
    const reads = attempts.map(({ objects }, i) => objects.read(place(`large-${i}`), () => i))
    const small = stage({ large, namespace: 'two' })
    const beside = small.objects.read(place('small'), () => 'small')
    async function releaseAll(): Promise<void> {
      for (const { release } of [...attempts, small]) await release()
    }
    const asked = (): number => attempts.flatMap((attempt) => attempt.asked).length
    await releaseAll()
    t.equal(asked(), 4, 'the others wait until the files of one are made')
    t.equal(await beside, 'small')
    while (waiting.length > 0) {
      for (const go of waiting.splice(0)) go()
      await releaseAll()
    }
    t.same(await Promise.all(reads), [0, 1, 2, 3, 4, 5])
    t.equal(asked(), 6)
  },
)

t.test('an object that was large is not read in vain again', async (t) => {
  const large = openLargeObjects(() => 0)
  large.add(JSON.stringify(['v1', 'ConfigMap', 'shop', 'once']))
  const { objects, asked, release } = stage({ large })
  const held = Promise.withResolvers<undefined>()
  for (let i = 0; i < 4; i += 1) void large.inTurn('other', NEVER, () => held.promise)
  const read = objects.read(place('once'), () => 1)
  await release()
  t.same(asked, [])
  held.resolve(undefined)
  await release()
  t.equal(await read, 1)
})

t.test('a large object is not waited for any more once the signal has fired', async (t) => {
  const gone = new Failure('Conflict', 'Another attempt has taken over.')
  for (const [reason, expected] of [
    [gone, gone],
    [undefined, { name: 'Failure', reason: 'Timeout' }],
  ] as const) {
    const over = new AbortController()
    const large = openLargeObjects(() => 0)
    const { objects, asked } = stage({ large, signal: over.signal })
    const held = Promise.withResolvers<undefined>()
    for (let i = 0; i < 4; i += 1) void large.inTurn('other', NEVER, () => held.promise)
    const read = objects.read(place('large'), () => 1)
    await setImmediate()
    over.abort(reason)
    await t.rejects(read, expected)
    t.same(asked, [])
    held.resolve(undefined)
  }
})

t.test(
  'a large object that waits for its share gives way to others after a while, and nothing of it stays',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const large = openLargeObjects(() => 0)
    const waiting: (() => void)[] = []
    const share: Reading['share'] = async (work) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return work()
    }
    const ends: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      const { objects, release } = stage({ large, share, namespace: name })
      objects
        .read(place(`large-${name}`), () => 'used')
        .catch((error: unknown) => ends.push(`${name}: ${asFailure(error).reason}`))
      await release()
      mock.timers.tick(100)
    }
    const honest = stage({ large, namespace: 'honest' })
    const read = honest.objects.read(place('large'), () => 'read')
    await honest.release()
    mock.timers.tick(4_500)
    await honest.release()
    t.same([ends, honest.asked], [[], []])
    mock.timers.tick(100)
    await honest.release()
    await honest.release()
    t.equal(await read, 'read')
    t.same(ends, ['a: Timeout'], 'one for one')
    mock.timers.tick(10_000)
    for (const go of waiting.splice(0)) go()
    await setImmediate()
    t.equal(waiting.length, 3, 'of the first one nothing is parsed')
    for (const go of waiting.splice(0)) go()
    await setImmediate()
    t.same(ends, ['a: Timeout'], 'nobody else waits')
  },
)

t.test('of an object nothing stays in memory but its version', async (t) => {
  const versions = new Map<string, string>()
  let read = 0
  const objects = openObjects({
    served: SERVED,
    namespace: 'shop',
    saw: (field, version) => void versions.set(field, version),
    share: async (work) => work(),
    room: NO_BOUND,
    large: openLargeObjects(() => 0),
    signal: NEVER,
    cluster: {
      readObject: ({ name, namespace }) => {
        const data = { a: String((read += 1)).repeat(1_000_000) }
        const metadata = { name, namespace, uid: `the uid of ${name}`, resourceVersion: `version ${name}` }
        return Promise.resolve(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }))
      },
    },
  })
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 40; i += 1) await objects.read(place(`number-${i}`), () => undefined)
  collect()
  const grown = (process.memoryUsage().heapUsed - before) / (1024 * 1024)
  t.equal(versions.get('spec.files[number-39].resourceRef'), 'the uid of number-39/version number-39')
  t.ok(grown < 10, `${grown} MiB`)
})
