import type { Connection } from 'ssh2'
import { configMap, gitCommit } from '../../../test/harness/installation.ts'
import { startFaultyServer } from '../../../test/harness/ssh-faulty.ts'
import { makeKey } from '../../../test/harness/ssh-keys.ts'
import type { Attack } from '../attack.ts'
import { breathe } from '../attack.ts'

const EVERY_MS = 500
const PER_TICK = 2_000
const TICK_MS = 5
const MOST_UNSENT = 1024 * 1024

/** An SSH server that answers a command with nothing but global requests (RFC 4254, section 4). */
export const sshRequests: Attack = {
  name: 'ssh-requests',
  secrets: ['ssh'],
  async run({ create }, signal) {
    const server = await startFaultyServer()
    let [created, sent] = [0, 0]
    server.faults.command = (channel, _command, connection) => {
      const timer = setInterval(() => (sent += ask(connection)), TICK_MS)
      channel.once('close', () => clearInterval(timer))
      connection.once('close', () => clearInterval(timer))
      signal.addEventListener('abort', () => clearInterval(timer))
      return true
    }
    const { privateKey } = makeKey('-t', 'ed25519')
    const stringData = { 'ssh-privatekey': privateKey, known_hosts: server.knownHosts }
    await create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ssh' }, stringData })
    await create(configMap())
    const credentials = { secretName: 'ssh', privateKeyKey: 'ssh-privatekey', knownHostsKey: 'known_hosts' }
    while (!signal.aborted) {
      const resource = gitCommit(`ssh-${created}`, `${server.url}/acme/shop-${created}.git`, { credentials })
      const status = await create(resource).catch(() => 0)
      if (status === 201) created += 1
      await breathe(signal, EVERY_MS)
    }
    await server.close()
    return `${created} resources, ${server.logins.length} sessions, ${sent} requests sent`
  },
}

/** Sends requests as long as the client reads them; returns how many. ssh2's server has no public way to send one. */
function ask(connection: Connection): number {
  const { _protocol: protocol, _sock: socket } = connection as unknown as {
    readonly _protocol: { ping(): void }
    readonly _sock: { readonly writableLength: number; readonly writable: boolean }
  }
  if (!socket.writable || socket.writableLength > MOST_UNSENT) return 0
  for (let count = 0; count < PER_TICK; count += 1) protocol.ping()
  return PER_TICK
}
