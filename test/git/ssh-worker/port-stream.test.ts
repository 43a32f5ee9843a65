import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { openPortStream } from '../../../functions/git/ssh-worker/port-stream.ts'
import { until } from '../stage.ts'

function pair() {
  const { port1, port2 } = new MessageChannel()
  const [here, there] = [openPortStream(port1), openPortStream(port2)]
  t.teardown(() => here.destroy())
  return { here, there }
}

t.test('bytes arrive in order in both directions, and each side ends alone', async (t) => {
  const { here, there } = pair()
  const [sent, answer] = [randomBytes(3_000_000), randomBytes(1_000_000)]
  // Slices of one memory, as those of Buffer's pool.
  for (let at = 0; at < sent.length; at += 50_000) here.write(sent.subarray(at, at + 50_000))
  here.end()
  t.ok((await buffer(there)).equals(sent))
  there.end(answer)
  t.ok((await buffer(here)).equals(answer))
  await until('both to close', async () => here.closed && there.closed)
})

t.test('what nobody reads waits in the writer, and goes on when it is read', async (t) => {
  const { here, there } = pair()
  let accepted = 0
  const chunk = randomBytes(64 * 1024)
  const writing = (async () => {
    for (let i = 0; i < 64; i++) {
      if (!here.write(chunk)) await once(here, 'drain')
      accepted += chunk.length
    }
    here.end()
  })()
  await until('the reader to be full', async () => there.readableLength > 0)
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(there.readableLength <= 512 * 1024, `${there.readableLength} bytes wait in the reader`)
  t.ok(accepted <= 1024 * 1024, `${accepted} bytes were accepted`)
  t.equal((await buffer(there)).length, 64 * chunk.length)
  await writing
})

t.test('what is written in small pieces within a moment is posted together, in order', async (t) => {
  const { port1, port2 } = new MessageChannel()
  const writer = openPortStream(port1, { gatherMs: 1 })
  t.teardown(() => writer.destroy())
  const posted: { readonly kind: string; readonly bytes?: Uint8Array }[] = []
  port2.on('message', (message) => posted.push(message))
  const sent = randomBytes(44_000)
  for (let at = 0; at < sent.length; at += 44) writer.write(sent.subarray(at, at + 44))
  writer.end()
  await until('the end', async () => posted.at(-1)?.kind === 'end')
  t.ok(posted.length <= 4, `${posted.length} messages`)
  t.ok(Buffer.concat(posted.map(({ bytes = Buffer.alloc(0) }) => bytes)).equals(sent))
})

t.test('an end that is destroyed ends the other, and a writer that waits is not left waiting', async (t) => {
  const { here, there } = pair()
  here.on('error', () => undefined)
  here.write(Buffer.alloc(1024 * 1024))
  there.destroy()
  await once(here, 'close')
  t.ok(here.destroyed)
})
