import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type PeerCertificate } from 'node:tls'
import t from 'tap'
import { makeAuthority, type CertificateRequest } from './certificates.ts'

const authority = await makeAuthority()

/** Connects, trusting the authority, and returns the server's certificate or the error's code. */
async function handshake(request: CertificateRequest, host: string): Promise<PeerCertificate | string> {
  const { certPEM, keyPEM } = await authority.issue(request)
  const server = createServer({ cert: certPEM, key: keyPEM }, (socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const socket = connect({ host: '127.0.0.1', port, servername: host, ca: authority.certPEM })
    return await new Promise((resolve) => {
      socket.once('secureConnect', () => resolve(socket.getPeerCertificate()))
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    })
  } finally {
    server.close()
  }
}

t.test('a server certificate is trusted for its DNS names', async (t) => {
  const peer = await handshake({ names: ['localhost', 'git.example.com', '127.0.0.1'] }, 'git.example.com')
  t.match(peer, { subjectaltname: 'DNS:localhost, DNS:git.example.com, IP Address:127.0.0.1' })
})

t.test('another name is refused', async (t) => {
  t.equal(await handshake({ names: ['git.example.com'] }, 'localhost'), 'ERR_TLS_CERT_ALTNAME_INVALID')
})

t.test('an expired certificate is refused as expired', async (t) => {
  t.equal(await handshake({ names: ['localhost'], expired: true }, 'localhost'), 'CERT_HAS_EXPIRED')
})

t.test('a client certificate names user and group as kube-apiserver reads them', async (t) => {
  const { certPEM } = await authority.issue({ names: [], clientName: 'dev', organization: 'system:masters' })
  const certificate = new X509Certificate(certPEM)
  t.equal(certificate.subject, 'O=system:masters\nCN=dev')
  t.ok(certificate.verify(new X509Certificate(authority.certPEM).publicKey))
  t.equal((await authority.issue({ names: [] })).certPEM.includes('BEGIN CERTIFICATE'), true)
})
