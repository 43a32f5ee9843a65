import { connect } from 'node:net'
import t from 'tap'
import { established } from '../../functions/net/socket.ts'
import { freePort } from '../harness/wait.ts'
import { serveRaw } from '../http/stage.ts'

const NEVER = new AbortController().signal

t.test('a socket is returned once it is connected, and no later error is lost', async (t) => {
  const { port } = await serveRaw(t, () => undefined)
  const socket = connect({ host: '127.0.0.1', port })
  t.equal(await established(socket, 'connect', NEVER), socket)
  // Without a listener this would end the process.
  socket.emit('error', new Error('late'))
  socket.destroy()
})

t.test('a socket that does not connect is destroyed', async (t) => {
  const port = await freePort()
  const refused = connect({ host: '127.0.0.1', port })
  await t.rejects(established(refused, 'connect', NEVER), { code: 'ECONNREFUSED' })
  t.ok(refused.destroyed)
  const { port: silent } = await serveRaw(t, () => undefined)
  const waiting = connect({ host: '127.0.0.1', port: silent })
  const reason = new Error('Enough.')
  await t.rejects(established(waiting, 'secureConnect', AbortSignal.abort(reason)), reason)
  t.ok(waiting.destroyed)
  const { port: closing } = await serveRaw(t, (socket) => socket.end())
  const ended = connect({ host: '127.0.0.1', port: closing }).resume()
  await t.rejects(established(ended, 'secureConnect', NEVER), { code: 'ECONNRESET' })
})
