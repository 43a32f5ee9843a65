import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import {
  apiLogin,
  usernameComplaint,
  userAndTokenIn,
} from '../../../functions/domain/credentials/password-login.ts'
import type { ApiLogin } from '../../../functions/domain/credentials/login.ts'
import { hostNamed } from '../../../functions/domain/repository/hosts.ts'
import { hostOf } from '../../../functions/domain/repository/public-host.ts'
import { redact } from '../../../functions/domain/redact.ts'
import type { Credentials } from '../../../functions/domain/spec/spec.ts'
import type { SecretData } from '../../../functions/domain/credentials/secret-keys.ts'
import { failureOf } from '../fixtures/thrown.ts'

const GITHUB = 'https://github.com/acme/shop.git'
const BITBUCKET = 'https://bitbucket.org/acme/shop.git'
const BASIC = 'kubernetes.io/basic-auth'
const SSH = 'kubernetes.io/ssh-auth'

function secret(data: Record<string, string | Uint8Array>, type = 'Opaque'): SecretData {
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const)
  return { namespace: 'shop', name: 'git', type, annotations: {}, data: new Map(entries) }
}

function login(
  keys: Partial<Credentials>,
  found: SecretData,
  repository = GITHUB,
  provider?: string,
): ApiLogin {
  const host = hostOf(parseRepositoryAddress(repository), provider)
  return apiLogin(userAndTokenIn(found, { secretName: 'git', ...keys }, 'the API of a provider'), host)
}

const BOTH = { token: 'T', username: 'dev', password: 'P' }
const LOGINS: readonly (readonly [string, Partial<Credentials>, SecretData, ApiLogin['username'], string])[] =
  [
    ['a token key', { tokenKey: 'pat' }, secret({ pat: ' T\n' }), undefined, 'T'],
    [
      'a token key with a user name',
      { tokenKey: 'pat', usernameKey: 'u' },
      secret({ pat: 'T', u: 'dev' }),
      'dev',
      'T',
    ],
    [
      'user name and password',
      { usernameKey: 'u', passwordKey: 'p' },
      secret({ u: 'dev\n', p: 'P' }),
      'dev',
      'P',
    ],
    ['a basic-auth Secret', {}, secret(BOTH, BASIC), 'dev', 'P'],
    ['the token key of a basic-auth Secret', { tokenKey: 'password' }, secret(BOTH, BASIC), undefined, 'P'],
    ['an Opaque Secret with a token', {}, secret(BOTH), undefined, 'T'],
    ['an Opaque Secret without one', {}, secret({ username: 'dev', password: 'P' }), 'dev', 'P'],
    [
      'an ssh-auth Secret that also has a token',
      {},
      secret({ token: 'T', 'ssh-privatekey': 'K' }, SSH),
      undefined,
      'T',
    ],
    [
      'the token beside a private key',
      { tokenKey: 'token', privateKeyKey: 'key' },
      secret({ token: 'T', key: 'K' }),
      undefined,
      'T',
    ],
    [
      'a password under the name of a token',
      { usernameKey: 'u', passwordKey: 'token' },
      secret({ u: 'dev', token: 'P' }),
      'dev',
      'P',
    ],
  ]

for (const [title, keys, found, username, value] of LOGINS) {
  t.test(`${title} logs in, over HTTPS or for an SSH address`, async (t) => {
    for (const repository of [GITHUB, 'git@github.com:acme/shop.git'])
      t.match(login(keys, found, repository), { username, secret: value })
  })
}

const PAIR = { usernameKey: 'u', passwordKey: 'p' }

t.test(
  'on Bitbucket an e-mail address goes with an API token, and nothing with an access token',
  async (t) => {
    t.match(login(PAIR, secret({ u: 'dev@example.com', p: 'P' }), BITBUCKET), { username: 'dev@example.com' })
    t.match(login({ tokenKey: 't' }, secret({ t: 'T' }), BITBUCKET), { username: undefined, secret: 'T' })
    t.match(login(PAIR, secret({ u: 'x-token-auth', p: 'P' }), BITBUCKET), {
      username: undefined,
      secret: 'P',
    })
  },
)

t.test("a user name that Bitbucket's API does not accept is reported before any call", async (t) => {
  for (const u of ['dev', 'x-bitbucket-api-token-auth']) {
    t.match(
      failureOf(() => login(PAIR, secret({ u, p: 'P' }), BITBUCKET)),
      {
        reason: 'CredentialsInvalid',
        message:
          "The Secret shop/git has a user name that Bitbucket's API does not accept; put the e-mail address of the Atlassian account there for an API token, or name only the key of an access token.",
      },
    )
  }
  t.match(login(PAIR, secret({ u: 'dev', p: 'P' })), { username: 'dev' }, 'other hosts take it')
})

t.test('only Bitbucket refuses such a name, and every host refuses a colon', async (t) => {
  const [github, bitbucket] = [hostNamed('github'), hostNamed('bitbucket')]
  t.equal(usernameComplaint(undefined, bitbucket), undefined)
  t.equal(usernameComplaint('dev', github), undefined)
  t.equal(usernameComplaint('dev', undefined), undefined)
  t.match(usernameComplaint('a:b', undefined), /a user name with a colon/)
  t.match(usernameComplaint('a:b@example.com', bitbucket), /a user name with a colon/)
})

t.test('the refusal of an unusable Secret shows nothing of its values', async (t) => {
  const cases: readonly (readonly [Partial<Credentials>, SecretData, RegExp])[] = [
    [{ tokenKey: 'pat' }, secret({ token: 'hunter2' }), /has no key named by tokenKey/],
    [{ tokenKey: 'pat' }, secret({ pat: ' \n' }), /has nothing in its key named by tokenKey/],
    [
      { tokenKey: 'pat' },
      secret({ pat: 'hunter2\nhunter2' }),
      /other than one line of text in its key named by tokenKey/,
    ],
    [
      { tokenKey: 'pat' },
      secret({ pat: new Uint8Array([0xff, 0xfe]) }),
      /other than text in its key named by tokenKey/,
    ],
    [
      { tokenKey: 'pat' },
      secret({ pat: 'hunter2'.repeat(2_000) }),
      /more than 8192 bytes in its key named by tokenKey/,
    ],
    [PAIR, secret({ u: 'hunter2:x', p: 'hunter2' }), /a user name with a colon/],
    [PAIR, secret({ p: 'hunter2' }), /has no key named by usernameKey/],
    [{}, secret({ other: 'hunter2' }), /holds neither "token" nor "username" and "password"/],
    [{}, secret({ 'ssh-privatekey': 'hunter2' }, SSH), /, which the API of a provider needs; /],
    [
      { tokenKey: 'token' },
      secret({ token: 'hunter2' }, 'kubernetes.io/tls'),
      /is of type "kubernetes.io\/tls"/,
    ],
  ]
  for (const [keys, found, message] of cases) {
    const failure = failureOf(() => login(keys, found))
    t.match(failure, { reason: 'CredentialsInvalid', message })
    t.notMatch(failure.message, /hunter2/)
  }
})

t.test(
  'an identity depends on the values of this Secret, differs from that of Git, and reveals nothing',
  async (t) => {
    const { identity } = login({ tokenKey: 't' }, secret({ t: 'hunter2' }))
    t.equal(login({}, secret({ token: 'hunter2\n' })).identity, identity)
    t.not(login({}, secret({ token: 'hunter3' })).identity, identity)
    t.not(login({}, { ...secret({ token: 'hunter2' }), namespace: 'other' }).identity, identity)
    t.not(login(PAIR, secret({ u: 'dev', p: 'hunter2' })).identity, identity)
    t.match(identity, /^[0-9a-f]{64}$/)
  },
)

t.test('everything that is sent is masked, the pair of Basic authentication too', async (t) => {
  const { secrets } = login(
    PAIR,
    secret({ u: 'dev@example.com', p: 'hunter2', spare: 'another-token' }),
    BITBUCKET,
  )
  const pair = Buffer.from('dev@example.com:hunter2').toString('base64')
  for (const word of ['hunter2', 'dev@example.com', pair, pair.replace(/=+$/, ''), 'another-token'])
    t.equal(redact(`got <${word}>`, secrets), 'got <***>', word)
})
