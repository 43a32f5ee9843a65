import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, getCACertificates, type SecureContext } from 'node:tls'
import { generate } from 'selfsigned'
import t from 'tap'
import { contextOf, followTrust } from '../../functions/net/trust.ts'
import { makeAuthority } from '../harness/certificates.ts'

const [first, second] = await Promise.all([makeAuthority(), makeAuthority()])
const [one, two] = [first, second].map(({ certPEM }) => `${certPEM}\n`) as [string, string]
const NONE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const known = await followTrust(undefined).authorities()

/** The file that is watched, and what was logged about it. */
function follow(file: string) {
  const told: string[] = []
  const trust = followTrust(file, ({ message }) => void told.push(message))
  return { told, ...trust }
}

t.test("the operator's authorities are added to those of the system, each once", async (t) => {
  const file = join(t.testdir({ 'own.pem': one + two }), 'own.pem')
  t.ok(known.length > 0, 'there are some')
  t.equal(new Set(known).size, known.length)
  const system = getCACertificates('system')
  t.same(new Set(known), new Set(system.length > 0 ? system : getCACertificates('bundled')))
  t.strictSame(await follow(file).authorities(), [...known, one + two])
})

t.test(
  'a swapped symbolic link of a volume is noticed, and nothing is rebuilt without a change',
  async (t) => {
    const folder = t.testdir({ first: { 'ca.pem': one }, second: { 'ca.pem': two } })
    await symlink('first', join(folder, 'data'))
    const { authorities, told } = follow(join(folder, 'data', 'ca.pem'))
    const before = await authorities()
    t.equal(await authorities(), before)
    t.equal((await Promise.all([authorities(), authorities()]))[1], before)
    await symlink('second', join(folder, 'next'))
    await rename(join(folder, 'next'), join(folder, 'data'))
    const [after, beside] = await Promise.all([authorities(), authorities()])
    t.strictSame(after, [...known, two])
    t.equal(beside, after)
    t.strictSame(told, [])
  },
)

t.test(
  'a CA_FILE that is broken meanwhile is told of once for each state, and the old one stays',
  async (t) => {
    const file = join(t.testdir({ 'ca.pem': one }), 'ca.pem')
    const { authorities, told } = follow(file)
    const before = await authorities()
    const states = [
      [() => rm(file), /cannot be read/],
      [() => writeFile(file, ''), /does not contain the PEM text/],
      [() => writeFile(file, one + two.slice(0, 200)), /PEM text of complete certificates/],
      [() => writeFile(file, `${one}${NONE}`), /contains a certificate that cannot be parsed/],
      [() => rm(file).then(() => mkdir(file)), /cannot be read/],
    ] as const
    for (const [index, [change, message]] of states.entries()) {
      await change()
      t.equal(await authorities(), before)
      t.equal(await authorities(), before)
      t.equal(told.length, index + 1)
      t.match(told.at(-1), message)
    }
    await rm(file, { recursive: true, force: true, maxRetries: 5 })
    await writeFile(file, two)
    t.strictSame(await authorities(), [...known, two])
  },
)

t.test('a CA_FILE that could never be used is named', async (t) => {
  const file = join(t.testdir({}), 'none.pem')
  const { authorities, told } = follow(file)
  await t.rejects(authorities(), {
    reason: 'Internal',
    message: 'The file that CA_FILE names cannot be read; your Commitlet operator has to fix it.',
  })
  await writeFile(file, NONE)
  await t.rejects(authorities(), { reason: 'Internal', message: /CA_FILE names contains a certificate/ })
  await writeFile(file, one)
  t.strictSame(await authorities(), [...known, one])
  t.strictSame(told, [])
})

t.test('certificates that do not begin at a line of their own are trusted as well', async (t) => {
  const [root = ''] = known
  const file = join(t.testdir({ 'ca.pem': `both:${root.trim()}${one.trim()}` }), 'ca.pem')
  const { authorities, context, told } = follow(file)
  t.strictSame(await authorities(), [...known, `${root.trim()}\n${one}`])
  const { certPEM: cert, keyPEM: key } = await first.issue({ names: ['localhost'] })
  const server = createServer({ cert, key }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const secureContext = await context()
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', secureContext })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  t.ok(socket.authorized)
  t.strictSame(told, [])
})

t.test('the context for TLS is made once for each change of CA_FILE', async (t) => {
  const file = join(t.testdir({ 'ca.pem': one }), 'ca.pem')
  const { context } = followTrust(file)
  const before = await context()
  t.equal(await context(), before)
  await writeFile(file, one + two)
  const after = await context()
  t.not(after, before)
  t.equal(await context(), after)
  const without = followTrust(undefined)
  t.equal(await without.context(), await without.context())
})

// With a modulus as large as OpenSSL accepts it, this holds the thread for 1 s.
t.test('no server gets a key to be agreed on by DHE', async (t) => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }])
  const ciphers = 'DHE-RSA-AES128-GCM-SHA256'
  const server = createServer({ cert, key, ciphers, dhparam: 'auto', maxVersion: 'TLSv1.2' })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const shakeHands = async (secureContext?: SecureContext): Promise<unknown> => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, secureContext })
    t.teardown(() => socket.destroy())
    await once(socket, 'secureConnect')
    return socket.getCipher().name
  }
  t.equal(await shakeHands(), ciphers)
  await t.rejects(shakeHands(contextOf([])), { code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE' })
  await t.rejects(shakeHands(await followTrust(undefined).context()), { code: /^ERR_SSL_/ })
})
