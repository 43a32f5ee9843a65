import t from 'tap'
import { asFailure, Failure } from '../../../functions/domain/failure.ts'
import { findOpenPGPKey } from '../../../functions/domain/openpgp/find-key.ts'
import { openPGPSigner } from '../../../functions/domain/signing/openpgp-signer.ts'
import type { Signer } from '../../../functions/domain/signing/signer.ts'
import { makeRSA, withoutPrime } from '../../harness/key-files.ts'
import { withGnuPG } from '../../harness/openpgp-keys.ts'
import { keyFile, rsaHalves, secretKey, statement, userID } from '../../harness/openpgp-writer.ts'

const COMMITTER = 'robot@example.com'
const DAY = 86_400
const RSA = makeRSA(2048)
const refuse = (complaint: string): Failure => new Failure('CredentialsInvalid', `The key ${complaint}.`)

function open(text: string, committer: string | undefined = COMMITTER): Signer {
  return openPGPSigner(findOpenPGPKey(Buffer.from(text)), { committer, refuse })
}

function failureOf(work: () => unknown): Failure {
  try {
    work()
  } catch (error) {
    return asFailure(error)
  }
  throw new Error('nothing was thrown')
}

function commitAt(seconds: number): Buffer {
  const by = `Robot <${COMMITTER}> ${seconds} +0000`
  return Buffer.from(`tree ${'0'.repeat(40)}\nauthor ${by}\ncommitter ${by}\n\ncommitter X <x> 1 +0000\n`)
}

function keyOf(...userIDs: readonly string[]): string {
  return keyFile(secretKey({ ...rsaHalves(RSA), made: 10 * DAY }), ...userIDs.map(userID))
}

/** In seconds; a key that GnuPG has just made is not newer. */
function now(): number {
  return Math.floor(Date.now() / 1000)
}

for (const userIDs of [
  [],
  ['Robot'],
  ['Robot <robot@example.com>'],
  ['Robot (signs) <ROBOT@Example.com> '],
  ['robot@example.com'],
  ['Other <other@example.org>', 'Robot <robot@example.com>'],
])
  t.test(`a key with the user IDs ${JSON.stringify(userIDs)} signs for ${COMMITTER}`, async (t) => {
    t.match(await open(keyOf(...userIDs)).sign(commitAt(now())), /^-----BEGIN PGP SIGNATURE-----\n\n/)
  })

t.test('a key of other addresses is refused, without them', async (t) => {
  const text = keyOf('Other <other@example.org>', 'Third <third@example.com>')
  const { message } = failureOf(() => open(text))
  t.match(message, /other addresses than robot@example\.com.*COMMIT_AUTHOR_EMAIL.*quick-add-uid/)
  t.notMatch(message, /other@|third@/)
  t.ok(openPGPSigner(findOpenPGPKey(Buffer.from(text)), { committer: undefined, refuse }))
})

t.test('a commit before the key, or after its end, is not signed', async (t) => {
  await t.rejects(open(keyOf()).sign(commitAt(9 * DAY)), {
    reason: 'CredentialsInvalid',
    message: /made on 1970-01-11, after the commit of 1970-01-10/,
  })
  const parts = { ...rsaHalves(RSA), made: 10 * DAY }
  const signer = open(keyFile(secretKey(parts), statement(0x13, { lifetime: DAY })))
  await t.resolves(signer.sign(commitAt(11 * DAY - 1)))
  await t.rejects(signer.sign(commitAt(11 * DAY)), { message: /expired on 1970-01-12.*quick-set-expire/ })
})

t.test('a key of RSA without a prime makes no signature that is right, and none is handed out', async (t) => {
  const text = keyFile(secretKey(rsaHalves(withoutPrime(RSA))))
  await t.rejects(open(text).sign(commitAt(now())), { message: /signatures are wrong/ })
})

void withGnuPG(t, async (t, gpg) => {
  const keys = [
    ['ed25519', {}],
    ['rsa3072', {}],
    ['nistp256', {}],
    ['nistp384', {}],
    ['ed25519', { usage: 'cert', subkey: 'ed25519' }],
    ['nistp521', {}],
    ['nistp521', { usage: 'cert', subkey: 'rsa2048' }],
  ] as const
  for (const [number, [algorithm, more]] of keys.entries())
    t.test(`GnuPG calls a signature good: ${algorithm} ${JSON.stringify(more)}`, async (t) => {
      const text = gpg.makeKey(`Robot ${number} <${COMMITTER}>`, algorithm, more)
      const signer = open(text)
      const commit = commitAt(now())
      const signature = await signer.sign(commit)
      t.ok(gpg.verifies(commit, signature))
      t.equal(await signer.sign(commit), signature, 'the same commit has the same signature')
      t.notOk(gpg.verifies(commitAt(now() + 9), signature))
    })

  t.test('a passphrase, a public key and an end that has passed are named', async (t) => {
    const old = gpg.makeKey(`Old <${COMMITTER}>`, 'ed25519', { expires: '1d', at: '20200101T000000' })
    await t.rejects(open(old).sign(commitAt(now())), { message: /has expired on 2020-01-02/ })
    gpg.run('--passphrase', 'secret', '--quick-generate-key', `Locked <${COMMITTER}>`, 'ed25519', 'sign')
    const locked = gpg.run('--passphrase', 'secret', '--armor', '--export-secret-keys', 'Locked')
    t.match(
      failureOf(() => open(locked)),
      { reason: 'CredentialsInvalid', message: /with a passphrase/ },
    )
    const shared = gpg.run('--armor', '--export', 'Old')
    t.match(
      failureOf(() => open(shared)),
      { message: /public key/ },
    )
    const stub = gpg.makeKey(`Stub <${COMMITTER}>`, 'ed25519', { usage: 'cert', subkey: 'ed25519' })
    t.ok(stub)
    const offline = gpg.run('--armor', '--export-secret-subkeys', 'Stub')
    const commit = commitAt(now())
    t.ok(gpg.verifies(commit, await open(offline).sign(commit)), 'the key that certifies may be elsewhere')
  })
})
