import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { KeyPair } from '../../webhook/tls.ts'
import { followKeyPair, readKeyPair } from '../../webhook/tls.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { waitFor } from '../harness/wait.ts'

const authority = await makeAuthority()
const issue = () => authority.issue({ names: ['localhost'] })

/** A folder as the kubelet makes it: the files are links through a link that is swapped. */
async function makeVolume(t: Test) {
  const dir = t.testdir({})
  const files = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), clientCAFile: undefined }
  let version = 0
  const swap = async (cert: string, key: string): Promise<void> => {
    version += 1
    await mkdir(join(dir, `v${version}`))
    await writeFile(join(dir, `v${version}`, 'tls.crt'), cert)
    await writeFile(join(dir, `v${version}`, 'tls.key'), key)
    await symlink(`v${version}`, join(dir, 'next'))
    await rename(join(dir, 'next'), join(dir, 'data'))
  }
  const first = await issue()
  await swap(first.certPEM, first.keyPEM)
  await symlink('data/tls.crt', files.certFile)
  await symlink('data/tls.key', files.keyFile)
  return { dir, files, swap }
}

t.test('a pair is read as PEM', async (t) => {
  const { dir, files } = await makeVolume(t)
  t.match(await readKeyPair(files), { cert: /BEGIN CERTIFICATE/, key: /PRIVATE KEY/ })
  const clientCAFile = join(dir, 'ca.crt')
  const ca = authority.certPEM.trim()
  for (const [text, read] of [
    [ca, `${ca}\n`],
    // As files are put together whose last line has no end.
    [`${ca}${ca}`, `${ca}\n${ca}\n`],
  ] as const) {
    await writeFile(clientCAFile, text)
    t.equal((await readKeyPair({ ...files, clientCAFile })).ca, read)
  }
})

t.test('unusable files are refused by name', async (t) => {
  const { dir, files, swap } = await makeVolume(t)
  const [one, other] = [await issue(), await issue()]
  const clientCAFile = join(dir, 'ca.crt')
  await writeFile(clientCAFile, 'not PEM')
  const missing = { ...files, keyFile: join(dir, 'none') }
  await t.rejects(readKeyPair(missing), {
    reason: 'CredentialsInvalid',
    message: /none, named by TLS_CERT_FILE, TLS_KEY_FILE or CLIENT_CA_FILE, cannot be read/,
  })
  await t.rejects(readKeyPair({ ...files, clientCAFile }), { message: /ca.crt has to hold a certificate/ })
  for (const [cert, key, message] of [
    ['', one.keyPEM, /tls.crt has to hold a certificate/],
    [one.certPEM.slice(0, 200), one.keyPEM, /tls.crt has to hold a certificate/],
    [one.certPEM, 'secret text', /tls.key has to hold a private key/],
    [one.certPEM, other.keyPEM, /tls.key does not belong to the certificate in .*tls.crt/],
    [
      `${one.certPEM}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      one.keyPEM,
      /with its chain/,
    ],
  ] as const) {
    await swap(cert, key)
    const error: unknown = await readKeyPair(files).catch((reason: unknown) => reason)
    t.ok(error instanceof Failure)
    t.match(error, { message })
    t.notMatch(error, { message: /secret text/ })
  }
})

t.test('a swapped pair is passed on once, and a broken one reported once', async (t) => {
  const { files, swap } = await makeVolume(t)
  const changed: KeyPair[] = []
  const broken: string[] = []
  const follower = {
    changed: (pair: KeyPair) => changed.push(pair),
    broken: (failure: Failure) => broken.push(failure.message),
  }
  const unfollow = followKeyPair({ ...files, lookMs: 5 }, await readKeyPair(files), follower)
  t.teardown(unfollow)

  const second = await issue()
  await swap(second.certPEM, second.keyPEM)
  await waitFor('new pair', () => changed[0], 5_000)
  t.match(changed, [{ cert: second.certPEM, key: second.keyPEM }])

  await swap(second.certPEM, (await issue()).keyPEM)
  await waitFor('complaint', () => broken[0], 5_000)
  t.match(broken, [/does not belong/])

  const third = await issue()
  await swap(third.certPEM, third.keyPEM)
  await waitFor('third pair', () => changed[1], 5_000)
  t.equal(changed.length, 2)
  t.equal(broken.length, 1, 'many looks, one complaint')
})

t.test('after its end nothing is watched', async (t) => {
  const { files, swap } = await makeVolume(t)
  const seen: string[] = []
  const follower = (name: string) => ({ changed: () => seen.push(name), broken: () => seen.push(name) })
  const pair = await readKeyPair(files)
  followKeyPair({ ...files, lookMs: 5 }, pair, follower('ended'))()
  t.teardown(followKeyPair({ ...files, lookMs: 5 }, pair, follower('other')))
  const next = await issue()
  await swap(next.certPEM, next.keyPEM)
  await waitFor('look of the other', () => seen[0], 5_000)
  t.strictSame(seen, ['other'])
})
