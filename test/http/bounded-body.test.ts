import { Readable } from 'node:stream'
import t from 'tap'
import { openFairPlaces } from '../../functions/domain/sharing/fair-places.ts'
import { readBounded } from '../../functions/http/bounded-body.ts'

/** A budget of so many bytes that counts what is left. */
function budgetOf(most: number) {
  const places = openFairPlaces(most)
  let owners = 0
  // Each for somebody else, so that all of it can be taken.
  const budget = (bytes: number) => places.enter(`${(owners += 1)}`, bytes)
  function take(bytes: number) {
    const release = budget(bytes)
    if (release === undefined) throw new Error('nothing is left')
    return release
  }
  return { take, isFull: () => budget(most) !== undefined }
}

t.test('a body in chunks of whatever size is one buffer, and is returned to the budget once', async (t) => {
  const { take, isFull } = budgetOf(200_000)
  const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, i) => i % 251))
  for (const size of [100, 999, 50_000]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    )
    const body = await readBounded(Readable.from(chunks, { objectMode: false }), { most: 50_000, take })
    t.ok(body?.bytes.equals(bytes))
    t.notOk(isFull(), 'it is taken while it is read')
    body?.release()
    body?.release()
  }
  t.ok(isFull())
})

t.test('an empty body takes nothing', async (t) => {
  const { take } = budgetOf(0)
  t.equal((await readBounded(Readable.from([]), { most: 1, take }))?.bytes.length, 0)
})

t.test('a body above the limit is given up as soon as that is known', async (t) => {
  const { take, isFull } = budgetOf(100_000)
  let chunks = 0
  function* endless() {
    for (;;) {
      chunks += 1
      yield Buffer.alloc(1_000)
    }
  }
  const stream = Readable.from(endless(), { objectMode: false })
  t.equal(await readBounded(stream, { most: 50_000, take }), undefined)
  t.ok(stream.destroyed)
  t.ok(chunks < 200, `${chunks} chunks were read`)
  t.ok(isFull())
})

t.test('without budget, and where the stream breaks, nothing is taken in the end', async (t) => {
  const { take, isFull } = budgetOf(20_000)
  const large = Readable.from([Buffer.alloc(30_000)])
  await t.rejects(readBounded(large, { most: 50_000, take }), { message: 'nothing is left' })
  async function* broken() {
    yield Buffer.alloc(100)
    throw new Error('broken')
  }
  await t.rejects(readBounded(Readable.from(broken()), { most: 50_000, take }), { message: 'broken' })
  t.ok(isFull())
})
