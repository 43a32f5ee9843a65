import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { configMap, gitCommit } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { breathe } from '../attack.ts'

const EVERY_MS = 70
const NAMES = ['localhost', '127.0.0.1']

/** A tenant with ten namespaces, whose GitCommits name servers that take each request and never answer. */
export const hangingServers: Attack = {
  name: 'hanging-servers',
  namespaces: 10,
  secrets: ['git'],
  async run({ authority, create, namespaces }, signal) {
    let [created, asked] = [0, 0]
    const { certPEM, keyPEM } = await authority.issue({ names: NAMES })
    const server = createServer({ cert: certPEM, key: keyPEM }, () => void (asked += 1))
    server.on('secureConnection', (socket) => socket.on('error', () => socket.destroy()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (const namespace of namespaces) await create(configMap(), namespace)
    while (!signal.aborted) {
      const namespace = namespaces[created % namespaces.length]
      const address = `https://${NAMES[created % NAMES.length]}:${port}/acme/hangs-${created}.git`
      const status = await create(gitCommit(`hangs-${created}`, address), namespace).catch(() => 0)
      if (status === 201) created += 1
      await breathe(signal, EVERY_MS)
    }
    server.closeAllConnections()
    server.close()
    return `${created} resources, ${asked} requests without an answer`
  },
}
