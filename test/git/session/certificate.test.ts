import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Share } from '../../../functions/domain/network/share.ts'
import { readProxies } from '../../../functions/domain/network/proxies.ts'
import { explainCertificate } from '../../../functions/git/session/certificate.ts'
import { makeAuthority } from '../../harness/certificates.ts'
import { startProxy } from '../../harness/connect-proxy.ts'
import { startGitServer, type GitServer, type GitServerOptions } from '../../harness/git-server.ts'
import { addressOf, REACHED } from '../stage.ts'

const authority = await makeAuthority()
const authorities = join(t.testdir({}), 'ca.pem')
await writeFile(authorities, authority.certPEM)
const today = new Date()

function day(offset: number): string {
  return new Date(today.getTime() + offset * 86_400_000).toISOString().slice(0, 10)
}

async function serve(certificate: GitServerOptions['certificate'], by = authority): Promise<GitServer> {
  const server = await startGitServer({ users: [], authority: by, certificate: certificate ?? {} })
  t.teardown(() => server.close())
  return server
}

/** What is found at `https://localhost:PORT/a.git`, called directly. */
function lookAt(port: number, patience?: number) {
  const address = addressOf(`https://localhost:${port}/a.git`)
  return explainCertificate({ ...REACHED, address, authorities }, patience)
}

for (const [title, certificate, says] of [
  [
    'has expired',
    { expired: true },
    `that has expired (the server's own was valid until ${day(-1)}), or one above it has; ask the operator of the server to renew it.`,
  ],
  [
    'is not valid yet',
    { early: true },
    `that is not valid yet (the server's own begins on ${day(1)}), or one above it is not; ask the operator of the server to fix it, or the clocks.`,
  ],
  [
    'is for another name',
    { names: ['git.example.com'] },
    'that was made for another name; use the name that the certificate holds, or have a new one made.',
  ],
] as const) {
  t.test(
    `a certificate that ${title} is reported, directly and through a proxy, and no request is sent`,
    async (t) => {
      const proxy = await startProxy({ login: 'me:s3cret' })
      t.teardown(() => proxy.close())
      const { url, port, requests } = await serve(certificate)
      const address = addressOf(`${url}/a.git`)
      const through = readProxies({ HTTPS_PROXY: `http://me:s3cret@127.0.0.1:${proxy.port}` })
      for (const way of [REACHED, { addresses: undefined, proxy: through.proxy, insecure: false }]) {
        let shares = 0
        const share: Share = (work) => ((shares += 1), Promise.resolve().then(work))
        const failure = await explainCertificate({ ...way, address, authorities, share })
        t.ok(shares > 0)
        t.match(failure, { reason: 'TLSUntrusted', message: `${url}/a.git shows a certificate ${says}` })
      }
      t.same(proxy.connects, [`localhost:${port}`])
      t.equal(requests.length, 0)
    },
  )
}

t.test('an unknown authority is reported', async (t) => {
  const { port } = await serve({}, await makeAuthority('Somebody else'))
  t.match(await lookAt(port), {
    reason: 'TLSUntrusted',
    message: /that no trusted authority has signed; the operator adds its/,
  })
})

t.test('the certificate of an IP address is checked without a name', async (t) => {
  const { url } = await serve({ names: ['localhost'] })
  const address = addressOf(`${url.replace('localhost', '127.0.0.1')}/a.git`)
  t.match(await explainCertificate({ ...REACHED, address, authorities }), {
    message: /made for another name/,
  })
})

t.test('nothing is reported where nothing is wrong, there is no TLS, or nothing listens', async (t) => {
  const { port: sound } = await serve({})
  t.equal(await lookAt(sound), undefined)
  const plain = createServer((socket) => socket.resume().end('SSH-2.0-x\r\n')).listen(0, '127.0.0.1')
  await once(plain, 'listening')
  const { port } = plain.address() as AddressInfo
  t.equal(await lookAt(port), undefined)
  await new Promise((resolve) => plain.close(resolve))
  t.equal(await lookAt(port), undefined)
})

t.test('a silent server is given up soon', async (t) => {
  const silent = createServer((socket) => t.teardown(() => socket.destroy())).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  t.equal(await lookAt((silent.address() as AddressInfo).port, 200), undefined)
})

t.test(
  'an untrusted certificate of a proxy is distinguished from that of the host; a proxy that refuses gives no cause',
  async (t) => {
    const { url } = await serve({ expired: true })
    const issuer = await makeAuthority('Somebody else')
    const untrusted = await startProxy({ certificate: await issuer.issue({ names: ['localhost'] }) })
    const refusing = await startProxy({ status: 403 })
    t.teardown(() => Promise.all([untrusted.close(), refusing.close()]))
    const through = (HTTPS_PROXY: string) => {
      const { proxy } = readProxies({ HTTPS_PROXY })
      const way = { addresses: undefined, proxy, insecure: false }
      return explainCertificate({ ...way, address: addressOf(`${url}/a.git`), authorities })
    }
    t.match(await through(`https://localhost:${untrusted.port}`), {
      reason: 'TLSUntrusted',
      message:
        /cannot be reached: the proxy of HTTPS_PROXY shows a certificate that no trusted authority has signed/,
    })
    t.equal(await through(`http://localhost:${refusing.port}`), undefined)
  },
)
