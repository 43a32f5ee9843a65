import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { keyLogin } from '../../../functions/domain/credentials/key-login.ts'
import type { Credentials } from '../../../functions/domain/spec/spec.ts'
import type { SecretData } from '../../../functions/domain/credentials/secret-keys.ts'
import { makeKey, rewriteKey } from '../../harness/ssh-keys.ts'

const { privateKey, publicKey } = makeKey('-t', 'ed25519')
const HOST_KEY = publicKey.split(' ').slice(0, 2).join(' ')
const KNOWN = `git.example.com ${HOST_KEY}\n`
const SSH = 'kubernetes.io/ssh-auth'

function login(
  data: Readonly<Record<string, string>>,
  { keys = {}, type = SSH, repository = 'git@git.example.com:acme/shop.git', operator }: Partial<Wanted> = {},
) {
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const)
  const secret: SecretData = { namespace: 'shop', name: 'git', type, annotations: {}, data: new Map(entries) }
  const credentials = { secretName: 'git', ...keys }
  const address = parseRepositoryAddress(repository)
  return keyLogin({ credentials, address, operatorHostKeys: operator }, secret)
}

interface Wanted {
  readonly keys: Partial<Credentials>
  readonly type: string
  readonly repository: string
  readonly operator: string
}

const BOTH = { 'ssh-privatekey': privateKey, known_hosts: KNOWN }

t.test('the key and the host keys of a Secret make a login', async (t) => {
  const made = login(BOTH)
  t.equal(made.method, 'key')
  t.match(made.privateKey, /^-----BEGIN [A-Z ]*PRIVATE KEY-----\n/)
  t.match(made.hostKeys, HOST_KEY)
  const [, line = ''] = privateKey.split('\n')
  t.ok(made.secrets.includes(line), 'the lines of the key are masked')
  const opaque = { deploy: privateKey, hosts: KNOWN }
  const keys = { privateKeyKey: 'deploy', knownHostsKey: 'hosts' }
  t.equal(login(opaque, { keys, type: 'Opaque' }).privateKey, made.privateKey)
})

t.test('how the key is written makes no difference', async (t) => {
  const { privateKey: expected } = login(BOTH)
  const odd = privateKey.trim().replaceAll('\n', '\r\n   ')
  t.equal(login({ ...BOTH, 'ssh-privatekey': odd }).privateKey, expected)
})

t.test('its identity is that of key and host keys, in one Secret', async (t) => {
  const { identity } = login(BOTH)
  t.equal(login(BOTH).identity, identity)
  t.not(login({ ...BOTH, 'ssh-privatekey': makeKey('-t', 'ed25519').privateKey }).identity, identity)
  const other = makeKey('-t', 'ed25519').publicKey.split(' ').slice(0, 2).join(' ')
  t.not(login({ ...BOTH, known_hosts: `git.example.com ${other}` }).identity, identity)
})

t.test(
  'host keys are those of the Secret, else of the operator, else those that are published',
  async (t) => {
    const alone = { 'ssh-privatekey': privateKey }
    const operator = `git.example.com ${makeKey('-t', 'ecdsa').publicKey}`
    t.match(login(alone, { operator }).hostKeys, /ecdsa-sha2-nistp256/)
    t.notMatch(login(BOTH, { operator }).hostKeys, /ecdsa/)
    t.match(login(alone, { repository: 'git@github.com:acme/shop.git' }).hostKeys, /ssh-ed25519/)
    t.throws(() => login(alone), { name: 'Failure', reason: 'HostKeyUnknown', retry: 'slow' })
  },
)

for (const [title, data, more, message] of [
  [
    'a key that is missing',
    { known_hosts: KNOWN },
    {},
    'The Secret shop/git has no key "ssh-privatekey"; add it, or name another in spec.credentials.',
  ],
  [
    'a type that holds something else',
    BOTH,
    { type: 'kubernetes.io/tls' },
    'The Secret shop/git is of type "kubernetes.io/tls", but has to be of type Opaque, kubernetes.io/basic-auth, kubernetes.io/ssh-auth; use another Secret.',
  ],
  [
    'known_hosts that are named, but not there',
    BOTH,
    { keys: { knownHostsKey: 'hosts' } },
    'The Secret shop/git has no key named by knownHostsKey; add it, or name another in spec.credentials.',
  ],
  [
    'known_hosts with nothing in them',
    { ...BOTH, known_hosts: '\n' },
    {},
    'The Secret shop/git has nothing in its key "known_hosts"; put the value there.',
  ],
] as const) {
  t.test(`${title} is reported`, async (t) => {
    t.throws(() => login(data, more), { reason: 'CredentialsInvalid', retry: 'slow', message })
  })
}

for (const [title, value, message] of [
  [
    'a key with a passphrase',
    rewriteKey(privateKey, '-N', 'correct horse'),
    /^The key "ssh-privatekey" of the Secret shop\/git [^\n]*passphrase/,
  ],
  [
    'something else',
    'a password',
    /^The key "ssh-privatekey" of the Secret shop\/git does not hold a private key/,
  ],
  ['the public half', publicKey, /^The key "ssh-privatekey" of the Secret shop\/git /],
] as const) {
  t.test(`${title} is reported before any connection`, async (t) => {
    t.throws(() => login({ ...BOTH, 'ssh-privatekey': value }), { reason: 'CredentialsInvalid', message })
  })
}
