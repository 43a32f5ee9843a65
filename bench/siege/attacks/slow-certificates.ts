import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { makeSlowCertificate } from '../../../test/harness/slow-certificates.ts'
import type { Attack } from '../attack.ts'
import { breathe } from '../attack.ts'
import { pullRequestAt } from '../pull-request.ts'

const EVERY_MS = 70

/** A tenant with ten namespaces, whose resources name a host with certificates that take OpenSSL 0.1 s and more. */
export const slowCertificates: Attack = {
  name: 'slow-certificates',
  namespaces: 10,
  secrets: ['git'],
  async run({ create, namespaces }, signal) {
    let [created, shaken] = [0, 0]
    const { certPEM, keyPEM } = makeSlowCertificate()
    const server = createServer({ cert: certPEM, key: keyPEM })
    server.on('connection', (socket) => {
      shaken += 1
      socket.on('error', () => socket.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    while (!signal.aborted) {
      const namespace = namespaces[created % namespaces.length]
      const status = await create(
        pullRequestAt(`https://localhost:${port}`, `certificates-${created}`),
        namespace,
      ).catch(() => 0)
      if (status === 201) created += 1
      await breathe(signal, EVERY_MS)
    }
    server.close()
    return `${created} pull requests, ${shaken} handshakes`
  },
}
