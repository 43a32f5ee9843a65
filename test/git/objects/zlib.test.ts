import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { deflateSync, inflateSync } from 'node:zlib'
import t from 'tap'
import { deflateWhole, inflateExactly } from '../../../functions/git/objects/zlib.ts'

const LARGE = Buffer.from(randomBytes(1024 * 1024).toString('hex'))
const STREAM = deflateSync(LARGE)

/** Does work with many large streams of ten namespaces; how many of them have ended before one of another namespace has. */
async function endedBefore(
  work: (by: Parameters<typeof deflateWhole>[1]) => Promise<unknown>,
): Promise<number> {
  const over = new AbortController()
  let ended = 0
  const all = Array.from({ length: 200 }, (_, index) =>
    work({ owner: `busy-${index % 10}`, signal: over.signal }).then(
      () => (ended += 1),
      () => undefined,
    ),
  )
  await turn()
  await work({ owner: 'shop', signal: undefined })
  const before = ended
  over.abort(new Error('The test is over.'))
  await Promise.all(all)
  return before
}

t.test(
  'of large streams, a few are worked on at once, and one of another namespace waits for few',
  async (t) => {
    for (const [what, work] of [
      ['deflated', (by) => deflateWhole(LARGE, by)],
      ['inflated', (by) => inflateExactly(STREAM, LARGE.length, by)],
    ] as const satisfies readonly (readonly [string, Parameters<typeof endedBefore>[0]])[]) {
      const before = await endedBefore(work)
      t.ok(before <= 100, `${what} before it: ${before} of 200`)
    }
  },
)

t.test('who waits for a turn ends with the signal', async (t) => {
  const over = new AbortController()
  const all = Array.from({ length: 10 }, () => deflateWhole(LARGE, { owner: 'shop', signal: over.signal }))
  const ended = Promise.allSettled(all)
  over.abort(new Error('too late'))
  const fates = await ended
  t.equal(fates.filter(({ status }) => status === 'rejected').length, 10 - 2)
  t.equal((await deflateWhole(LARGE, { owner: 'shop', signal: undefined })).length, STREAM.length)
})

t.test('what is broken gives its place back', async (t) => {
  const broken = Buffer.from(STREAM).fill(0, 1_000, 2_000)
  for (let times = 0; times < 10; times += 1)
    await t.rejects(inflateExactly(broken, LARGE.length, { owner: 'shop', signal: undefined }), {
      message: /cannot be inflated/,
    })
  t.same((await inflateExactly(STREAM, LARGE.length, { owner: 'shop', signal: undefined })).body, LARGE)
})

t.test('what is small is deflated about as well as by the largest window', async (t) => {
  const words = Array.from(
    { length: 8_192 },
    (_, index) => `${(index * 7_919) % 1_009} author of the line ${index}`,
  )
  const text = Buffer.from(words.join('\n'))
  for (const length of [0, 1, 2, 255, 256, 257, 511, 513, 1_000, 5_000, 16_384, 20_000, 40_000, 65_536]) {
    const bytes = text.subarray(0, length)
    const deflated = await deflateWhole(bytes, { owner: 'shop', signal: undefined })
    t.same(inflateSync(deflated), bytes, `${length} bytes`)
    const most = deflateSync(bytes).length
    t.ok(deflated.length <= most * 1.02 + 8, `${deflated.length} bytes of ${length}, and ${most} at best`)
  }
})
