import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { passwordLogin, userAndTokenIn } from '../../../functions/domain/credentials/password-login.ts'
import { hostOf } from '../../../functions/domain/repository/public-host.ts'
import type { SecretData } from '../../../functions/domain/credentials/secret-keys.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Credentials } from '../../../functions/domain/spec/spec.ts'

const UNKNOWN = 'https://git.example.com/acme/shop.git'

function secret(data: Record<string, string | Uint8Array>, rest: Partial<SecretData> = {}): SecretData {
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const)
  return { namespace: 'shop', name: 'git', type: 'Opaque', annotations: {}, data: new Map(entries), ...rest }
}

function login(
  keys: Partial<Credentials>,
  found: SecretData,
  { repository = UNKNOWN, provider }: { readonly repository?: string; readonly provider?: string } = {},
) {
  const host = hostOf(parseRepositoryAddress(repository), provider)
  return passwordLogin(userAndTokenIn(found, { secretName: 'git', ...keys }), host)
}

function failureOf(work: () => unknown): Failure {
  try {
    work()
  } catch (error) {
    if (error instanceof Failure) return error
  }
  throw new Error('no Failure was thrown')
}

const BASIC = { type: 'kubernetes.io/basic-auth' }

t.test('keys that are named are used, others by the type of the Secret', async (t) => {
  const both = { token: 'T', username: 'dev', password: 'P' }
  const cases = [
    ['a token key', { tokenKey: 'pat' }, secret({ pat: 'T' }), 'x-access-token', 'T'],
    [
      'a token key with a user name',
      { tokenKey: 'pat', usernameKey: 'user' },
      secret({ pat: 'T', user: 'dev' }),
      'dev',
      'T',
    ],
    [
      'user name and password',
      { usernameKey: 'u', passwordKey: 'p' },
      secret({ u: 'dev', p: 'P' }),
      'dev',
      'P',
    ],
    [
      'named keys of a basic-auth Secret',
      { tokenKey: 'password' },
      secret(both, BASIC),
      'x-access-token',
      'P',
    ],
    ['a basic-auth Secret', {}, secret(both, BASIC), 'dev', 'P'],
    ['an Opaque Secret with a token', {}, secret(both), 'x-access-token', 'T'],
    ['an Opaque Secret without a token', {}, secret({ username: 'dev', password: 'P' }), 'dev', 'P'],
    [
      'an ssh-auth Secret that holds a token',
      {},
      secret({ token: 'T' }, { type: 'kubernetes.io/ssh-auth' }),
      'x-access-token',
      'T',
    ],
    ['a user name key alone', { usernameKey: 'u' }, secret({ u: 'dev', password: 'P' }), 'dev', 'P'],
    ['a password key alone', { passwordKey: 'p' }, secret({ username: 'dev', p: 'P' }), 'dev', 'P'],
  ] as const
  for (const [title, keys, found, username, password] of cases) {
    const { username: name, password: word } = login(keys, found)
    t.same([name, word], [username, password], title)
  }
})

t.test('the user name beside a token follows the convention of the host', async (t) => {
  const cases = {
    'https://github.com/acme/shop': 'x-access-token',
    'https://acme.ghe.com/acme/shop': 'x-access-token',
    'https://gitlab.com/acme/shop': 'oauth2',
    'https://bitbucket.org/acme/shop': 'x-token-auth',
    'https://git.example.com/acme/shop': 'x-access-token',
  }
  for (const [repository, username] of Object.entries(cases)) {
    t.equal(login({ tokenKey: 't' }, secret({ t: 'T' }), { repository }).username, username, repository)
  }
  t.equal(login({ tokenKey: 't' }, secret({ t: 'T' }), { provider: 'gitlab' }).username, 'oauth2')
})

t.test('an e-mail address is not what Bitbucket wants beside an API token in Git', async (t) => {
  const found = secret({ token: 'T', user: 'dev@example.com' })
  const keys = { tokenKey: 'token', usernameKey: 'user' }
  t.equal(
    login(keys, found, { repository: 'https://bitbucket.org/acme/shop' }).username,
    'x-bitbucket-api-token-auth',
  )
  t.equal(login(keys, found).username, 'dev@example.com')
})

t.test('values are trimmed, and every value of the Secret is listed for redaction', async (t) => {
  const found = login({}, secret({ username: ' dev\n', password: '\tP\r\n' }, BASIC))
  t.same([found.username, found.password, found.secrets], ['dev', 'P', ['dev', 'P']])
  t.same(login({}, secret({ token: 'T\n' })).secrets, ['T'])
  const more = secret({ token: 'T', spare: ' another-token\n', tiny: 'abc', bytes: 'x'.repeat(70_000) })
  t.same(
    login({}, more).secrets,
    ['T', ' another-token\n', 'another-token'],
    'other values of the Secret, too',
  )
  const binary = secret({ token: 'T', key: new Uint8Array([0xff, 0xfe, 0xff, 0xfe, 0xff]) })
  t.same(login({}, binary).secrets, ['T'], 'what is not text cannot be repeated as text')
})

t.test('equal credentials have equal identities, and an identity reveals nothing', async (t) => {
  const one = login({}, secret({ token: 'hunter2' })).identity
  t.equal(login({ tokenKey: 'x' }, secret({ x: 'hunter2\n' })).identity, one)
  t.not(login({}, secret({ token: 'hunter3' })).identity, one)
  t.not(login({}, secret({ token: 'hunter2' }, { namespace: 'other' })).identity, one)
  t.not(login({}, secret({ token: 'hunter2' }, { name: 'other' })).identity, one)
  t.match(one, /^[0-9a-f]{64}$/)
})

t.test('an unusable Secret is CredentialsInvalid, with the name of the key', async (t) => {
  const cases = [
    [{ tokenKey: 'pat' }, secret({ token: 'hunter2' }), 'The Secret shop/git has no key named by tokenKey'],
    [{ tokenKey: 'pat' }, secret({ pat: '' }), 'has nothing in its key named by tokenKey'],
    [{ tokenKey: 'pat' }, secret({ pat: ' \n' }), 'has nothing in its key named by tokenKey'],
    [
      { tokenKey: 'pat' },
      secret({ pat: 'hunter2\nhunter2' }),
      'something other than one line of text in its key named by tokenKey',
    ],
    [
      { tokenKey: 'pat' },
      secret({ pat: new Uint8Array([0xff, 0xfe]) }),
      'something other than text in its key',
    ],
    [{ usernameKey: 'u', passwordKey: 'p' }, secret({ p: 'hunter2' }), 'has no key named by usernameKey'],
    [{ usernameKey: 'u', passwordKey: 'p' }, secret({ u: 'a:b', p: 'hunter2' }), 'a user name with a colon'],
    [{}, secret({ username: 'dev' }, BASIC), 'has no key "password"'],
    [{}, secret({ other: 'hunter2' }), 'holds neither "token" nor "username" and "password"'],
    [
      {},
      secret({ 'ssh-privatekey': 'hunter2' }, { type: 'kubernetes.io/ssh-auth' }),
      'holds neither "token"',
    ],
    [
      { tokenKey: 'token' },
      secret({ token: 'hunter2' }, { type: 'kubernetes.io/service-account-token' }),
      'is of type "kubernetes.io/service-account-token"',
    ],
  ] as const
  for (const [keys, found, sentence] of cases) {
    const failure = failureOf(() => login(keys, found))
    t.equal(failure.reason, 'CredentialsInvalid', sentence)
    t.ok(failure.message.includes(sentence), failure.message)
    t.notMatch(failure.message, /hunter2/)
  }
})

t.test('a value has at most 8 KiB, and a type of any length makes a short sentence', async (t) => {
  const longest = 'x'.repeat(8_192)
  t.equal(login({}, secret({ token: longest })).password, longest)
  const cases = [
    [secret({ token: `${longest} ` }), 'more than 8192 bytes in its key "token"; put'],
    [
      secret({ username: 'é'.repeat(5_000), password: 'P' }),
      'more than 8192 bytes in its key "username"; put',
    ],
    [secret({ token: 'T' }, { type: longest }), 'is of type "xxx'],
  ] as const
  for (const [found, sentence] of cases) {
    const { message } = failureOf(() => login({}, found))
    t.ok(message.includes(sentence) && message.length < 400, sentence)
  }
})
