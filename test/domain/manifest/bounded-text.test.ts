import t from 'tap'
import { boundedText } from '../../../functions/domain/manifest/bounded-text.ts'
import { Failure } from '../../../functions/domain/failure.ts'

function tooLong(): Failure {
  return new Failure('NotSupported', 'Too long.')
}

t.test('pieces come out as one text in UTF-8', (t) => {
  const { write, bytes } = boundedText(1_000_000, tooLong)
  for (let piece = 0; piece < 50_000; piece += 1) write('é😀')
  t.equal(Buffer.from(bytes()).toString('utf8'), 'é😀'.repeat(50_000))
  t.end()
})

t.test('exactly as many bytes as the limit are allowed', (t) => {
  const { write, bytes } = boundedText(4, tooLong)
  write('é')
  write('é')
  t.equal(bytes().length, 4)
  t.end()
})

t.test('one byte above the limit is refused', (t) => {
  const { write, bytes } = boundedText(3, tooLong)
  write('éé')
  t.throws(bytes, { reason: 'NotSupported', message: 'Too long.' })
  t.end()
})

t.test('an endless text is stopped soon after the limit', (t) => {
  const { write } = boundedText(1_000_000, tooLong)
  let written = 0
  const endless = (): never => {
    for (;;) {
      write('x'.repeat(1_000))
      written += 1_000
    }
  }
  t.throws(endless, { reason: 'NotSupported', message: 'Too long.' })
  t.ok(written < 1_000_000 + 65 * 1024, `${written} bytes`)
  t.end()
})
