import t from 'tap'
import type { Kind } from '../../../functions/domain/resource/api-names.ts'
import { providerErrors } from '../../../functions/domain/gate/provider-rules.ts'
import { readable } from '../fixtures/parsed.ts'

const OWN = 'https://git.example.com/acme/shop.git'

function unknown(found = 'is'): string {
  return `spec.provider ${found} not a known provider; write one of github, gitlab, bitbucket, gitea (also for Forgejo).`
}

function fieldErrors(repository: string, spec: Record<string, unknown>, kind: Kind = 'GitCommit'): string[] {
  return providerErrors(readable(kind, { repository, ...spec })).map(({ message }) => message)
}

t.test('a provider agrees with the host, or is one that is known', async (t) => {
  t.same(fieldErrors('https://github.com/a/b', {}), [])
  t.same(fieldErrors('https://github.com/a/b', { provider: 'github' }), [])
  t.same(fieldErrors(OWN, {}), [], 'a commit needs none')
  t.same(fieldErrors(OWN, { provider: 'gitea' }), [])
  t.same(fieldErrors('https://github.com/a/b', { provider: 'gitlab' }), [
    'spec.provider is "gitlab", but github.com is github; leave it out.',
  ])
  t.same(fieldErrors(OWN, { provider: 'sourcehut', providerConfig: { baseURL: 'x' } }), [
    unknown('is "sourcehut", which is'),
  ])
})

t.test('an unknown provider is reported, even where the address is invalid', async (t) => {
  const messages = (spec: object): unknown =>
    providerErrors(readable('PullRequest', { repository: 'no address', ...spec })).map(
      ({ message }) => message,
    )
  t.same(messages({ provider: 'gopher' }), [unknown('is "gopher", which is')])
  for (const provider of ['GitHub', 'forgejo', 'azure-devops'])
    t.same(fieldErrors('https://github.com/a/b', { provider }), [unknown(`is "${provider}", which is`)])
  for (const provider of ['0123456789abcdef', 'x'.repeat(30), 'a b', 'git"hub'])
    t.same(messages({ provider }), [unknown()], 'what may be a secret is not repeated')
  t.same(messages({ provider: 'github', providerConfig: { baseURL: 'x' } }), [])
  t.same(messages({}), [])
})

const CONFIGS: [string, string | undefined, string, boolean][] = [
  [OWN, 'github', 'https://git.example.com/api/v3', true],
  [OWN, 'gitlab', 'https://git.example.com/api/v4', true],
  [OWN, 'gitea', 'https://git.example.com/api/v1', true],
  [OWN, 'gitlab', 'https://git.example.com/acme/api/v4', true],
  [OWN, 'gitlab', 'https://git.example.com/acme/shop/api/v4', false],
  [OWN, 'gitlab', 'https://git.example.com/other/api/v4', false],
  [OWN, 'gitlab', 'https://git.example.com/api/v3', false],
  [OWN, 'gitlab', 'https://git.example.com', false],
  [OWN, 'gitlab', 'https://git.example.com/api/v4/', false],
  [OWN, 'gitlab', 'https://evil.example/api/v4', false],
  [OWN, 'gitlab', 'https://git.example.com.evil.example/api/v4', false],
  [OWN, 'gitlab', 'https://git.example.com@evil.example/api/v4', false],
  [OWN, 'gitlab', 'https://git.example.com:8443/api/v4', false],
  [OWN, 'gitlab', 'http://git.example.com/api/v4', false],
  [OWN, 'bitbucket', 'https://git.example.com/2.0', false],
  ['https://git.example.com:8443/acme/shop', 'gitlab', 'https://git.example.com:8443/api/v4', true],
  ['https://git.example.com:8443/acme/shop', 'gitlab', 'https://git.example.com/api/v4', false],
  ['ssh://git@git.example.com:2222/acme/shop', 'gitlab', 'https://git.example.com/api/v4', true],
  ['http://git.example.com:3000/acme/shop', 'gitea', 'http://git.example.com:3000/api/v1', true],
  ['http://git.example.com/acme/shop', 'gitea', 'http://git.example.com/api/v1', true],
  ['http://git.example.com/acme/shop', 'gitea', 'https://git.example.com/api/v1', false],
  ['https://[2001:db8::1]/acme/shop', 'gitlab', 'https://[2001:db8::1]/api/v4', true],
  ['https://github.com/a/b', undefined, 'https://api.github.com', true],
  ['https://github.com/a/b', undefined, 'https://github.com/api/v3', false],
  ['https://acme.ghe.com/a/b', undefined, 'https://api.acme.ghe.com', true],
  ['https://acme.ghe.com/a/b', undefined, 'https://api.other.ghe.com', false],
  ['https://gitlab.com/a/b', undefined, 'https://gitlab.com/api/v4', true],
  ['https://bitbucket.org/a/b', undefined, 'https://api.bitbucket.org/2.0', true],
]

t.test('an API belongs to the host of the repository', async (t) => {
  for (const [repository, provider, baseURL, sound] of CONFIGS) {
    const found = fieldErrors(repository, {
      ...(provider === undefined ? {} : { provider }),
      providerConfig: { baseURL },
    })
    t.equal(found.length, sound ? 0 : 1, `${repository} ${baseURL}`)
    for (const message of found) t.notMatch(message, /evil/, 'an address is not repeated')
  }
})

t.test('so does an upload address, where the provider has one', async (t) => {
  t.same(
    fieldErrors(OWN, {
      provider: 'github',
      providerConfig: { uploadURL: 'https://git.example.com/api/uploads' },
    }),
    [],
  )
  t.same(
    fieldErrors('https://github.com/a/b', { providerConfig: { uploadURL: 'https://uploads.github.com' } }),
    [],
  )
  t.same(
    fieldErrors(OWN, {
      provider: 'github',
      providerConfig: { uploadURL: 'https://evil.example/api/uploads' },
    }),
    [
      'spec.providerConfig.uploadURL does not belong to the repository; write https://git.example.com/api/uploads, with the path of the installation before "/api" if it has one.',
    ],
  )
  t.same(
    fieldErrors(OWN, {
      provider: 'gitlab',
      providerConfig: { uploadURL: 'https://git.example.com/api/uploads' },
    }),
    ['spec.providerConfig.uploadURL is not used with gitlab on this host; leave it out.'],
  )
})

t.test('a trailing slash is reported as that', async (t) => {
  for (const [repository, provider, found, address] of [
    [OWN, 'gitlab', 'https://git.example.com/api/v4/', 'https://git.example.com/api/v4'],
    [OWN, 'gitlab', 'https://git.example.com/acme/api/v4//', 'https://git.example.com/acme/api/v4'],
    ['https://github.com/a/b', 'github', 'https://api.github.com/', 'https://api.github.com'],
  ] as const)
    t.same(fieldErrors(repository, { provider, providerConfig: { baseURL: found } }), [
      `spec.providerConfig.baseURL ends with a slash; write ${address} without it.`,
    ])
  const other = { provider: 'gitlab', providerConfig: { baseURL: 'https://evil.example/api/v4/' } }
  t.match(fieldErrors(OWN, other), [/does not belong to the repository/])
})

t.test('a configuration without a provider cannot be read', async (t) => {
  t.same(fieldErrors(OWN, { providerConfig: {} }), [
    'spec.provider is missing; spec.providerConfig needs it on a host that is not known.',
  ])
  t.same(fieldErrors(OWN, { provider: 5, providerConfig: {} }), [], 'the schema tells')
})

t.test('a pull request on a host that is not public needs provider and address of the API', async (t) => {
  const base = { providerConfig: { baseURL: 'https://git.example.com/api/v4' } }
  t.same(fieldErrors(OWN, { provider: 'gitlab', ...base }, 'PullRequest'), [])
  t.same(fieldErrors('https://github.com/a/b', {}, 'PullRequest'), [])
  const missing = (field: string): string =>
    `${field} is missing; git.example.com is not a public host, so a pull request needs it.`
  const [provider, baseURL] = [missing('spec.provider'), missing('spec.providerConfig.baseURL')]
  t.same(fieldErrors(OWN, {}, 'PullRequest'), [provider, baseURL])
  t.same(fieldErrors(OWN, base, 'PullRequest'), [provider], 'once')
  t.same(fieldErrors(OWN, { provider: 'gitlab' }, 'PullRequest'), [baseURL])
  t.same(fieldErrors(OWN, { provider: 5, ...base }, 'PullRequest'), [], 'the schema tells')
})

t.test('what the host does not support of a pull request is reported with the rest', async (t) => {
  const spec = {
    provider: 'gitlab',
    headBranch: 'dev:feature',
    providerConfig: { baseURL: 'https://evil.example' },
  }
  t.match(fieldErrors(OWN, spec, 'PullRequest'), [
    /^spec\.providerConfig\.baseURL does not belong to the repository/,
    /^spec\.headBranch asks for the branch of a fork, which is not supported on gitlab yet/,
  ])
  t.same(
    fieldErrors(OWN, { headBranch: 'dev:feature' }, 'PullRequest').length,
    2,
    'without a host, nothing is known of it',
  )
  t.same(fieldErrors('https://gitlab.com/shop', {}), [], 'a commit goes to any path')
})
