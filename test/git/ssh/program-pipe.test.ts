import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { pipeToProgram } from '../../../functions/git/ssh/program-pipe.ts'
import type { SSHProgram } from '../../../functions/git/ssh/session.ts'

/** Git's connection, and our end of it. */
async function connection(t: Test): Promise<{ readonly git: Socket; readonly ours: Socket }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const git = connect(port, '127.0.0.1')
  const [ours] = await accepted
  t.teardown(() => {
    git.destroy()
    ours.destroy()
    server.close()
  })
  return { git: git.on('error', () => undefined), ours: ours.on('error', () => undefined) }
}

function programOf(stream: Duplex): SSHProgram {
  const end = { words: '', tooMuch: false, exitStatus: undefined }
  return { stream, end: () => end, closed: Promise.resolve(undefined) }
}

t.test('bytes go in both directions, and are counted on their way out', async (t) => {
  const { git, ours } = await connection(t)
  const pipe = pipeToProgram(ours, programOf(new PassThrough()))
  git.write('hello')
  const [echo] = (await once(git, 'data')) as [Buffer]
  t.equal(echo.toString(), 'hello')
  t.equal(pipe.sentBytes(), 5)
})

t.test('when one side ends, the other is closed', async (t) => {
  const { git, ours } = await connection(t)
  const stream = new PassThrough()
  pipeToProgram(ours, programOf(stream))
  stream.destroy()
  await once(git.resume(), 'close')
  t.ok(ours.destroyed)
})

t.test('so is the other of one that has ended before', async (t) => {
  const { git, ours } = await connection(t)
  const ended = new PassThrough().destroy()
  await once(ended, 'close')
  pipeToProgram(ours, programOf(ended))
  await once(git.resume(), 'close')
  t.ok(ours.destroyed)

  const { ours: left } = await connection(t)
  left.destroy()
  await once(left, 'close')
  const stream = new PassThrough()
  pipeToProgram(left, programOf(stream))
  t.ok(stream.destroyed)
})
