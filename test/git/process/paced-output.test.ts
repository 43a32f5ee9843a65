import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { readPaced } from '../../../functions/git/process/paced-output.ts'

t.test('a stream of many small pieces is read in fewer', async (t) => {
  const stream = new PassThrough()
  const pieces: string[] = []
  readPaced(stream, (piece) => void pieces.push(piece.toString()))
  async function write(text: string): Promise<void> {
    stream.write(text)
    await setImmediate()
  }
  for (let i = 0; i < 100; i += 1) await write('a')
  t.equal(pieces.length, 100)
  t.notOk(stream.isPaused())
  await write('a')
  t.ok(stream.isPaused())
  stream.end('end')
  await once(stream, 'end')
  t.equal(pieces.join(''), `${'a'.repeat(101)}end`, 'and to its end')
})
