import { PassThrough } from 'node:stream'
import t from 'tap'
import { readLines } from '../../../functions/cluster/calls/read-lines.ts'

/** A stream that is being read: the lines so far, and how the reading ends. */
function reading(most = 100) {
  const stream = new PassThrough()
  const lines: string[] = []
  const abort = new AbortController()
  const outcome = readLines(stream, (line) => lines.push(line), { most, signal: abort.signal })
  return { stream, lines, abort, outcome }
}

t.test('lines are handed on as they come, however they are cut', async (t) => {
  const { stream, lines, outcome } = reading()
  const bytes = Buffer.from('{"a":"ä"}\n\nsecond\nthi')
  for (const byte of bytes) stream.write(Buffer.from([byte]))
  await new Promise((resolve) => setImmediate(resolve))
  t.same(lines, ['{"a":"ä"}', 'second'])
  stream.end('rd\nunfinished')
  t.equal(await outcome, true)
  t.same(lines, ['{"a":"ä"}', 'second', 'third'])
})

t.test('a line that is too long ends the reading, with or without an end', async (t) => {
  for (const rest of ['x'.repeat(101), `${'x'.repeat(101)}\nshort\n`]) {
    const { stream, lines, outcome } = reading()
    stream.write(`first\n${rest}`)
    t.equal(await outcome, false)
    t.same(lines, ['first'])
    stream.destroy()
  }
})

t.test('many lines together may be longer than one may be', async (t) => {
  const { stream, lines, outcome } = reading()
  stream.end('a line\n'.repeat(1_000))
  t.equal(await outcome, true)
  t.equal(lines.length, 1_000)
})

t.test('an error, an early end and an abort reject', async (t) => {
  const failing = reading()
  failing.stream.destroy(new Error('broken'))
  await t.rejects(failing.outcome, { message: 'broken' })
  const closed = reading()
  closed.stream.destroy()
  await t.rejects(closed.outcome, { code: 'ECONNRESET' })
  const aborted = reading()
  aborted.abort.abort(new Error('enough'))
  await t.rejects(aborted.outcome, { message: 'enough' })
  const { signal } = aborted.abort
  const late = readLines(new PassThrough(), () => undefined, { most: 1, signal })
  await t.rejects(late, { message: 'enough' })
})
