import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openObjects, SIDE_BY_SIDE, type Reading } from '../../../functions/commit/sources/objects.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { MISSING } from '../../../functions/domain/resource/waiting.ts'

const SERVED = new Map([['ConfigMap of v1', { plural: 'configmaps', namespaced: true }]])

const NO_BOUND = { take: () => undefined, check: () => undefined }

function place(name: string, kind = 'ConfigMap') {
  return { field: `spec.files[${name}].resourceRef` as const, reference: { apiVersion: 'v1', kind, name } }
}

/** Objects that are read when `release` is called, as often as it is. */
function stage({
  share = async (work) => work(),
  room = NO_BOUND,
  signal = new AbortController().signal,
}: Partial<Pick<Reading, 'share' | 'room' | 'signal'>> = {}) {
  const waiting: (() => void)[] = []
  const asked: string[] = []
  const gone: string[] = []
  const seen: string[] = []
  const objects = openObjects({
    served: SERVED,
    namespace: 'shop',
    saw(field, version) {
      if (version === MISSING) gone.push(field)
      else seen.push(`${field} ${version}`)
    },
    share,
    room,
    signal,
    cluster: {
      async readObject({ name, namespace }) {
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
