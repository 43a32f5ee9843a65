import t from 'tap'
import type { Credentials } from '../../../functions/domain/spec/spec.ts'
import { invalidSecret, passwordKeys, sshKeys } from '../../../functions/domain/credentials/secret-keys.ts'
import type { SecretData } from '../../../functions/domain/credentials/secret-keys.ts'

const BASIC = 'kubernetes.io/basic-auth'
const SSH = 'kubernetes.io/ssh-auth'

function secret(type: string, keys: readonly string[]): SecretData {
  const data = new Map(keys.map((key) => [key, Buffer.from('x')]))
  return { namespace: 'shop', name: 'git', type, annotations: {}, data }
}

function named(keys: Partial<Credentials>): Credentials {
  return { secretName: 'git', ...keys }
}

const PAIR = { usernameKey: 'username', secretKey: 'password' }
const BY_HTTPS: readonly [Partial<Credentials>, string, readonly string[], object][] = [
  [{ tokenKey: 'pat' }, BASIC, [], { usernameKey: undefined, secretKey: 'pat' }],
  [{ tokenKey: 'pat', usernameKey: 'who' }, 'Opaque', [], { usernameKey: 'who', secretKey: 'pat' }],
  [{ usernameKey: 'who', passwordKey: 'word' }, 'Opaque', [], { usernameKey: 'who', secretKey: 'word' }],
  [{ usernameKey: 'who' }, BASIC, [], { usernameKey: 'who', secretKey: 'password' }],
  [{ passwordKey: 'word' }, BASIC, [], { usernameKey: 'username', secretKey: 'word' }],
  [{}, BASIC, ['token'], PAIR],
  [{}, 'Opaque', ['token', 'username', 'password'], { usernameKey: undefined, secretKey: 'token' }],
  [{}, 'Opaque', ['username', 'password'], PAIR],
  [{ privateKeyKey: 'k' }, SSH, ['token'], { usernameKey: undefined, secretKey: 'token' }],
]

for (const [keys, type, held, expected] of BY_HTTPS) {
  t.test(`over HTTPS, ${JSON.stringify(keys)} of ${type} with ${held.join() || 'nothing'}`, async (t) => {
    t.strictSame(passwordKeys(named(keys), secret(type, held)), expected)
  })
}

for (const held of [[], ['username'], ['password'], ['ssh-privatekey']]) {
  t.test(`over HTTPS, a Secret with ${held.join() || 'nothing'} is ambiguous`, async (t) => {
    t.throws(() => passwordKeys(named({}), secret('Opaque', held)), {
      reason: 'CredentialsInvalid',
      message:
        'The Secret shop/git holds neither "token" nor "username" and "password", which an https address needs; add them, or name other keys in spec.credentials.',
    })
  })
}

t.test('for an API the sentence names the API', async (t) => {
  t.throws(() => passwordKeys(named({}), secret(SSH, ['ssh-privatekey']), 'the API of a provider'), {
    reason: 'CredentialsInvalid',
    message:
      'The Secret shop/git holds neither "token" nor "username" and "password", which the API of a provider needs; add them, or name other keys in spec.credentials.',
  })
})

const BY_SSH: readonly [Partial<Credentials>, string, readonly string[], object][] = [
  [{ privateKeyKey: 'k' }, 'Opaque', [], { privateKeyKey: 'k', knownHostsKey: undefined }],
  [{ privateKeyKey: 'k' }, 'Opaque', ['known_hosts'], { privateKeyKey: 'k', knownHostsKey: 'known_hosts' }],
  [{}, SSH, [], { privateKeyKey: 'ssh-privatekey', knownHostsKey: undefined }],
  [
    { knownHostsKey: 'hosts' },
    SSH,
    ['known_hosts'],
    { privateKeyKey: 'ssh-privatekey', knownHostsKey: 'hosts' },
  ],
  [{ privateKeyKey: 'k' }, SSH, [], { privateKeyKey: 'k', knownHostsKey: undefined }],
]

for (const [keys, type, held, expected] of BY_SSH) {
  t.test(`over SSH, ${JSON.stringify(keys)} of ${type} with ${held.join() || 'nothing'}`, async (t) => {
    t.strictSame(sshKeys(named(keys), secret(type, held)), expected)
  })
}

t.test('over SSH, the usual key of an Opaque Secret is used, as its token is over HTTPS', async (t) => {
  const keys = { privateKeyKey: 'ssh-privatekey', knownHostsKey: undefined }
  t.same(sshKeys(named({}), secret('Opaque', ['ssh-privatekey', 'token'])), keys)
  t.same(sshKeys(named({}), secret('kubernetes.io/basic-auth', ['ssh-privatekey'])), keys)
})

t.test('over SSH, another key is not guessed', async (t) => {
  t.throws(() => sshKeys(named({}), secret('Opaque', ['id_ed25519'])), {
    reason: 'CredentialsInvalid',
    retry: 'slow',
    message:
      'The Secret shop/git has no key "ssh-privatekey", which an SSH address needs; add it, or name another with privateKeyKey in spec.credentials.',
  })
})

t.test('the message names the Secret', async (t) => {
  t.match(invalidSecret(secret('Opaque', []), 'is odd.'), {
    reason: 'CredentialsInvalid',
    message: 'The Secret shop/git is odd.',
  })
})
