import { PassThrough } from 'node:stream'
import t from 'tap'
import { openBodyRoom } from '../../../functions/domain/network/body-room.ts'
import { announcedBytes, readBody } from '../../../functions/domain/network/read-body.ts'
import { waitFor } from '../../harness/wait.ts'

const MIB = 1024 * 1024

/** More than 256 KiB, and no end. */
function endless(): PassThrough {
  const stream = new PassThrough()
  stream.write(Buffer.alloc(MIB))
  return stream
}

t.test('a body of any pieces is read to its end', async (t) => {
  const stream = new PassThrough()
  const reading = readBody(stream, { most: 5 })
  stream.write('ab')
  stream.end('cde')
  t.equal(String(await reading), 'abcde')
  t.ok((await reading) instanceof Buffer)
})

t.test('more bytes than the limit are not read', async (t) => {
  const long = new PassThrough()
  const reading = readBody(long, { most: 5 })
  long.write('abcdef')
  t.equal(await reading, 'too large')
  t.ok(long.isPaused())
})

t.test('after each 256 KiB it is waited until more may be read', async (t) => {
  const stream = new PassThrough({ highWaterMark: 4 * MIB })
  const asked: PromiseWithResolvers<undefined>[] = []
  const goOn = (): Promise<undefined> => {
    const one = Promise.withResolvers<undefined>()
    asked.push(one)
    return one.promise
  }
  const reading = readBody(stream, { most: 2 * MIB, goOn })
  for (let count = 0; count < 16; count += 1) stream.write(Buffer.alloc(MIB / 16))
  stream.end()
  for (let times = 1; times <= 4; times += 1) {
    await waitFor('the next question', () => asked.length === times || undefined, 5_000)
    t.ok(stream.isPaused())
    asked.at(-1)?.resolve(undefined)
  }
  t.equal((await reading).length, MIB)
  t.equal(asked.length, 4)
  const refused = readBody(endless(), { most: 2 * MIB, goOn: () => Promise.reject(new Error('no share')) })
  await t.rejects(refused, { message: 'no share' })
})

for (const [title, piece, most] of [
  ['pieces of one byte are read as long as they are few', '.', 1_040],
  ['longer ones are read up to a limit', '.'.repeat(64), 65_536],
] as const) {
  t.test(title, async (t) => {
    const stream = new PassThrough()
    const reading = readBody(stream, { most: 10_000_000 })
    for (let count = 0; count < most; count += 1) stream.write(piece)
    t.equal(await Promise.race([reading, Promise.resolve('open')]), 'open')
    stream.write(piece)
    t.equal(await reading, 'too many pieces')
  })
}

t.test('a body that is given up for another one returns its room', async (t) => {
  const enter = openBodyRoom(2_048)
  const stream = new PassThrough()
  const reading = readBody(stream, { most: 2_048, place: enter() })
  stream.write('.'.repeat(1_500))
  const other = new PassThrough()
  const whole = readBody(other, { most: 2_048, place: enter() })
  other.end('.'.repeat(2_000))
  t.equal(await reading, 'no room')
  t.equal((await whole).length, 2_000)
})

t.test('an error, an early end and a signal end the reading', async (t) => {
  const broken = new PassThrough()
  const reading = readBody(broken, { most: 5 })
  broken.destroy(new Error('broken'))
  await t.rejects(reading, { message: 'broken' })
  const closed = new PassThrough()
  const open = readBody(closed, { most: 5 })
  closed.destroy()
  await t.rejects(open, { code: 'ECONNRESET' })
  for (const early of [true, false]) {
    const stream = new PassThrough()
    const ending = new AbortController()
    if (early) ending.abort(new Error('late'))
    const late = readBody(stream, { most: 5, signal: ending.signal })
    ending.abort(new Error('late'))
    await t.rejects(late, { message: 'late' })
    t.equal(stream.listenerCount('data'), 0)
    // Reported after it, the error has a listener.
    stream.destroy(new Error('later'))
  }
})

for (const [title, headers, bytes] of [
  ['a length is what it says', { 'content-length': '41' }, 41],
  ['no length announces nothing', { 'transfer-encoding': 'chunked', 'content-length': '41' }, 0],
  ['no body announces nothing', {}, 0],
] as const) {
  t.test(title, async (t) => t.equal(announcedBytes(headers), bytes))
}
