import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import {
  apiEndpoint,
  calledAddresses,
  repositoryAt,
} from '../../../functions/domain/repository/api-endpoint.ts'

const PLACES: readonly (readonly [
  repository: string,
  provider: string | undefined,
  baseURL: string | undefined,
  place: string,
])[] = [
  ['https://github.com/acme/shop.git', undefined, undefined, 'github https://api.github.com acme shop'],
  ['git@github.com:acme/shop.git', undefined, undefined, 'github https://api.github.com acme shop'],
  ['ssh://git@ssh.github.com:443/acme/shop', undefined, undefined, 'github https://api.github.com acme shop'],
  ['https://acme.ghe.com/acme/shop', undefined, undefined, 'github https://api.acme.ghe.com acme shop'],
  [
    'https://gitlab.com/acme/team/shop',
    'gitlab',
    undefined,
    'gitlab https://gitlab.com/api/v4 acme team shop',
  ],
  [
    'git@ssh.bitbucket.org:acme/shop',
    undefined,
    undefined,
    'bitbucket https://api.bitbucket.org/2.0 acme shop',
  ],
  [
    'https://git.example.com/acme/shop.git',
    'github',
    'https://git.example.com/api/v3',
    'github https://git.example.com/api/v3 acme shop',
  ],
  [
    'https://git.example.com/gitlab/acme/team/shop',
    'gitlab',
    'https://git.example.com/gitlab/api/v4',
    'gitlab https://git.example.com/gitlab/api/v4 acme team shop',
  ],
  [
    'https://git.example.com:8443/git/tea/acme/shop',
    'gitea',
    'https://git.example.com:8443/git/tea/api/v1',
    'gitea https://git.example.com:8443/git/tea/api/v1 acme shop',
  ],
  [
    'ssh://git@git.example.com:2222/acme/shop',
    'gitea',
    'https://git.example.com/api/v1',
    'gitea https://git.example.com/api/v1 acme shop',
  ],
]

t.test('the API of a repository, and its path there', async (t) => {
  for (const [repository, provider, baseURL, expected] of PLACES) {
    const spec = {
      repository,
      ...(provider === undefined ? {} : { provider }),
      ...(baseURL === undefined ? {} : { providerConfig: { baseURL } }),
    }
    const place = apiEndpoint(spec, parseRepositoryAddress(repository))
    t.equal([place.host.name, place.baseURL, ...place.repository].join(' '), expected)
  }
})

t.test('where nothing says which API it is, there is no place', async (t) => {
  const repository = 'https://git.example.com/acme/shop'
  const baseURL = 'https://git.example.com/api/v4'
  const address = parseRepositoryAddress(repository)
  for (const spec of [{}, { provider: 'gitlab' }, { providerConfig: { baseURL } }])
    t.throws(() => apiEndpoint({ repository, ...spec }, address), {
      reason: 'InvalidSpec',
      message:
        'spec.provider and spec.providerConfig.baseURL do not tell where the API of spec.repository is; write both.',
    })
})

t.test('the path is whole where the installation is not before it', async (t) => {
  const address = parseRepositoryAddress('https://git.example.com/acme/shop')
  for (const baseURL of [
    undefined,
    '',
    'no address',
    'https://git.example.com/other/api/v4',
    'https://git.example.com/2.0',
  ])
    t.strictSame(repositoryAt(address, baseURL), ['acme', 'shop'], baseURL ?? 'none')
})

t.test(
  'what binds a credential covers the API of an SSH address as well, and that of a public host anyway',
  async (t) => {
    const called = (kind: 'GitCommit' | 'PullRequest', text: string): readonly string[] =>
      calledAddresses(kind, parseRepositoryAddress(text)).map(({ scheme, host, port, segments }) =>
        [scheme, host, port, ...segments].join(' '),
      )
    const ssh = 'ssh://git@git.example.com:8443/acme/shop.git'
    const itself = 'ssh git.example.com 8443 acme shop'
    t.same(called('PullRequest', ssh), [itself, 'https git.example.com 443 acme shop'])
    t.same(called('GitCommit', ssh), [itself])
    t.same(called('PullRequest', 'https://git.example.com:8443/acme/shop'), [
      'https git.example.com 8443 acme shop',
    ])
    t.same(called('PullRequest', 'ssh://git@ssh.github.com:443/acme/shop'), [
      'ssh ssh.github.com 443 acme shop',
    ])
  },
)
