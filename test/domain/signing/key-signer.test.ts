import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { findKey } from '../../../functions/domain/private-key/private-key.ts'
import { keySigner } from '../../../functions/domain/signing/key-signer.ts'
import type { Signer } from '../../../functions/domain/signing/signer.ts'
import { makeRSA, rsaFiles, withoutPrime } from '../../harness/key-files.ts'
import { makeKey } from '../../harness/ssh-keys.ts'

const COMMITTER = 'robot@example.com'
const refuse = (complaint: string): Failure => new Failure('CredentialsInvalid', `The key ${complaint}.`)

function open(text: string, committer: string | undefined = COMMITTER): Signer {
  return keySigner(findKey(Buffer.from(text)), { committer, refuse })
}

for (const comment of ['', 'root@builder', 'Robot@Example.com', 'deploy key of the shop', '@example.com'])
  t.test(`a key with the comment "${comment}" signs for ${COMMITTER}`, async (t) => {
    const { privateKey } = makeKey('-t', 'ed25519', '-C', comment)
    t.match(await open(privateKey).sign(Buffer.from('commit')), /^-----BEGIN SSH SIGNATURE-----\n/)
  })

t.test('a key whose comment is another address is refused, without that address', async (t) => {
  const { privateKey } = makeKey('-t', 'ed25519', '-C', 'someone@example.org')
  let message = ''
  try {
    open(privateKey)
  } catch (error) {
    message = error instanceof Failure ? error.message : ''
  }
  t.match(message, /another address than robot@example\.com.*COMMIT_AUTHOR_EMAIL.*ssh-keygen -c/)
  t.notMatch(message, 'someone')
  t.ok(keySigner(findKey(Buffer.from(privateKey)), { committer: undefined, refuse }))
})

t.test('a key of RSA without a prime makes no signature that is right, and none is handed out', async (t) => {
  for (const [, text] of rsaFiles(withoutPrime(makeRSA(2048))))
    await t.rejects(open(text).sign(Buffer.from('commit')), { message: /signatures are wrong/ })
})

t.test(
  'the same commit has the same signature, though ECDSA draws numbers; another has another',
  async (t) => {
    const signer = open(makeKey('-t', 'ecdsa').privateKey)
    const first = await signer.sign(Buffer.from('commit'))
    t.equal(await signer.sign(Buffer.from('commit')), first)
    t.not(await signer.sign(Buffer.from('another')), first)
  },
)

t.test('only an RSA key of more than 4,096 bits is slow', (t) => {
  const isSlow = (key: KeyObject): boolean | undefined =>
    keySigner({ pem: '', key }, { committer: undefined, refuse }).isSlow
  const rsa = (modulusLength: number): KeyObject => generateKeyPairSync('rsa', { modulusLength }).privateKey
  t.equal(isSlow(rsa(4104)), true)
  t.equal(isSlow(rsa(2048)), false)
  t.equal(isSlow(generateKeyPairSync('ed25519').privateKey), false)
  t.end()
})
