import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { startGitDaemon } from '../../../functions/git/ssh/git-daemon.ts'

const PATH = '/0123456789abcdef'

function packet(service: string, path: string): string {
  const text = `${service} ${path}\0host=127.0.0.1\0\0version=2\0`
  return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
}

/** The result of a connection that sent this. */
async function sending(port: number, ...parts: readonly string[]): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  for (const part of parts) socket.write(part)
  return socket
}

t.test('only a request for the right service at the right path is accepted, and once', async (t) => {
  const listener = await startGitDaemon(PATH)
  t.teardown(listener.close)
  const taken = Promise.withResolvers<Socket>()
  let count = 0
  listener.expect('git-upload-pack', (socket, request) => {
    count += 1
    t.match(request, { protocol: 'version=2' })
    taken.resolve(socket)
  })
  for (const wrong of [
    packet('git-upload-pack', `${PATH}x`),
    packet('git-receive-pack', PATH),
    'GET / HTTP/1.1\r\n\r\n',
  ]) {
    const socket = await sending(listener.port, wrong)
    await once(socket.resume(), 'close')
  }
  t.equal(count, 0)
  const whole = packet('git-upload-pack', PATH)
  const git = await sending(listener.port, whole.slice(0, 9), whole.slice(9), 'and more')
  const socket = await taken.promise
  const [rest] = (await once(socket.resume(), 'data')) as [Buffer]
  t.equal(rest.toString(), 'and more')
  const late = await sending(listener.port, whole)
  await once(late.resume(), 'close')
  t.equal(count, 1)
  git.destroy()
})

t.test('no connection is accepted before a call and after it', async (t) => {
  const listener = await startGitDaemon(PATH)
  t.teardown(listener.close)
  const { stop } = listener.expect('git-upload-pack', () => t.fail('nobody is expected'))
  stop()
  const socket = await sending(listener.port, packet('git-upload-pack', PATH))
  await once(socket.resume(), 'close')
  t.pass('the connection was closed')
})

t.test('when it is closed, all open connections are closed', async (t) => {
  const listener = await startGitDaemon(PATH)
  const silent = await sending(listener.port)
  const gone = once(silent.resume(), 'close')
  listener.close()
  await gone
  await t.rejects(sending(listener.port), { code: 'ECONNREFUSED' })
})
