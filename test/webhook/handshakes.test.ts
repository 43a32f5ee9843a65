import { once } from 'node:events'
import { createServer, get, type RequestOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import t from 'tap'
import { boundHandshakes } from '../../webhook/handshakes.ts'
import { servedWith } from '../../webhook/tls.ts'
import { makeAuthority } from '../harness/certificates.ts'

const authority = await makeAuthority()
const { certPEM: cert, keyPEM: key } = await authority.issue({ names: ['localhost'] })
const client = await authority.issue({ names: ['apiserver'] })
const server = createServer(
  { ...servedWith({ cert, key, ca: authority.certPEM }), requestCert: true, rejectUnauthorized: false },
  ({ socket }, response) => {
    const { remoteAddress, remotePort } = socket
    response.end(
      JSON.stringify({
        remoteAddress,
        remotePort,
        ...('authorized' in socket ? { isCertified: socket.authorized } : {}),
      }),
    )
  },
)
boundHandshakes(server)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo
const trusted = { port, host: 'localhost', ca: authority.certPEM, agent: false } as const

async function answerTo(options: RequestOptions): Promise<unknown> {
  const request = get({ ...trusted, ...options })
  const [response] = await once(request, 'response')
  return { ...JSON.parse(await text(response)), localPort: request.socket?.localPort }
}

/** The client's certificate, and so many above it. */
function chainOf(length: number): string {
  return [client.certPEM, ...Array.from({ length }, () => authority.certPEM)]
    .map((pem) => pem.trim())
    .join('\n')
}

t.test('a client is heard with a certificate, with some above it, and without one', async (t) => {
  for (const [options, isCertified] of [
    [{}, false],
    [{ cert: client.certPEM, key: client.keyPEM }, true],
    [{ cert: chainOf(4), key: client.keyPEM }, true],
  ] as const)
    t.match(await answerTo(options), { remoteAddress: '127.0.0.1', remotePort: Number, isCertified })
})

t.test('a handshake of more than 12 KiB is ended before TLS reads it', async (t) => {
  await t.rejects(answerTo({ cert: chainOf(60), key: client.keyPEM }), { code: 'ECONNRESET' })
  t.match(await answerTo({}), { isCertified: false }, 'others go on')
})

t.test('no connection negotiates again, which would ask for certificates without a bound', async (t) => {
  const socket = connect({ ...trusted, servername: 'localhost', maxVersion: 'TLSv1.2' })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  const { promise, resolve } = Promise.withResolvers<Error | null>()
  socket.on('error', resolve).renegotiate({ rejectUnauthorized: true }, resolve)
  t.match(await promise, { message: /no renegotiation/ })
})
