import t from 'tap'
import { growingBuffer } from '../../../functions/domain/network/growing-buffer.ts'

t.test('pieces of any size come out as one, in their order', async (t) => {
  const buffer = growingBuffer(10_000)
  t.equal(buffer.bytes().toString(), '')
  const pieces = [1, 2_000, 1, 1_023, 1, 4_000].map((size, index) => Buffer.alloc(size, String(index)))
  for (const piece of pieces) t.ok(buffer.add(piece))
  t.ok(buffer.bytes().equals(Buffer.concat(pieces)))
})

t.test('a piece is copied, and what does not fit is left out', async (t) => {
  const buffer = growingBuffer(5)
  const piece = Buffer.from('abc')
  t.ok(buffer.add(piece))
  piece.fill('x')
  t.notOk(buffer.add(Buffer.from('def')))
  t.ok(buffer.add(Buffer.from('de')))
  t.equal(buffer.bytes().toString(), 'abcde')
})

t.test('memory is asked for before it is taken: twice as much each time, up to the limit', async (t) => {
  const asked: number[] = []
  const buffer = growingBuffer(10_000, (bytes) => asked.push(bytes) < 5)
  for (let size = 0; size < 5_000; size += 500) buffer.add(Buffer.alloc(500))
  t.strictSame(asked, [1_024, 1_024, 2_048, 4_096])
  buffer.add(Buffer.alloc(3_192))
  t.notOk(buffer.add(Buffer.alloc(1)), 'it is refused')
  t.strictSame(asked.slice(4), [10_000 - 8_192])
})

t.test('what has grown leaves none of its memory to be collected', async (t) => {
  const buffer = growingBuffer(10_000)
  buffer.add(Buffer.from('abc'))
  const { buffer: memory } = buffer.bytes()
  buffer.add(Buffer.alloc(2_000, 'd'))
  t.equal(memory.byteLength, 0)
  t.equal(buffer.bytes().toString(), `abc${'d'.repeat(2_000)}`)
})
