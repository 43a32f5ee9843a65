import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { commitURL, movedTo, requireAPI, targetOf } from '../../../functions/domain/repository/target.ts'
import type { Target } from '../../../functions/domain/repository/target.ts'

function pullTarget(repository: string, provider?: string, baseURL?: string): Target {
  return targetOf('PullRequest', parseRepositoryAddress(repository), { provider, baseURL })
}

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
    const place = requireAPI(pullTarget(repository, provider, baseURL))
    t.equal([place.host.name, place.baseURL, ...place.repository].join(' '), expected)
  }
})

t.test('without a known API there is no target', async (t) => {
  const repository = 'https://git.example.com/acme/shop'
  const baseURL = 'https://git.example.com/api/v4'
  for (const [provider, base] of [[], ['gitlab'], [undefined, baseURL]])
    t.throws(() => requireAPI(pullTarget(repository, provider, base)), {
      reason: 'InvalidSpec',
      message:
        'spec.provider and spec.providerConfig.baseURL do not tell where the API of spec.repository is; write both.',
    })
})

t.test('the path is complete where it does not begin with that of the installation', async (t) => {
  for (const baseURL of [
    undefined,
    '',
    'no address',
    'https://git.example.com/other/api/v4',
    'https://git.example.com/2.0',
  ]) {
    const { repository } = pullTarget('https://git.example.com/acme/shop', 'gitlab', baseURL)
    t.strictSame(repository, ['acme', 'shop'], baseURL ?? 'none')
  }
})

t.test(
  "a credential's repositories have to cover the API of an SSH address; that of a public host is always covered",
  async (t) => {
    const called = (kind: 'GitCommit' | 'PullRequest', text: string): readonly string[] =>
      targetOf(kind, parseRepositoryAddress(text)).called.map(({ scheme, host, port, segments }) =>
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

t.test('a renamed repository keeps its installation and host, and the API is covered too', async (t) => {
  const before = pullTarget(
    'ssh://git@git.example.com:2222/git/acme/shop',
    'gitea',
    'https://git.example.com/git/api/v1',
  )
  const address = parseRepositoryAddress('ssh://git@git.example.com:2222/git/market/store')
  const moved = movedTo(before, address)
  t.strictSame(moved.repository, ['market', 'store'])
  t.equal(moved.host, before.host)
  t.strictSame(
    moved.called.map(({ text }) => text),
    [address.text, 'https://git.example.com/git/market/store'],
  )
})

t.test('a commit has a web address where the software of the host is known', async (t) => {
  const cases = [
    ['https://github.com/acme/shop.git', undefined, 'https://github.com/acme/shop/commit/abc'],
    ['git@ssh.github.com:acme/shop.git', undefined, 'https://github.com/acme/shop/commit/abc'],
    ['https://gitlab.com/acme/team/shop.git', undefined, 'https://gitlab.com/acme/team/shop/-/commit/abc'],
    ['git@ssh.bitbucket.org:acme/shop', undefined, 'https://bitbucket.org/acme/shop/commits/abc'],
    ['https://git.example.com:8443/acme/shop', 'gitea', 'https://git.example.com:8443/acme/shop/commit/abc'],
    ['ssh://git@git.example.com:2222/acme/shop', 'gitea', 'https://git.example.com/acme/shop/commit/abc'],
    ['https://[2001:db8::1]/acme/shop', 'gitea', 'https://[2001:db8::1]/acme/shop/commit/abc'],
    ['http://git.example.com/acme/shop', 'gitea', 'http://git.example.com/acme/shop/commit/abc'],
    ['http://git.example.com:443/acme/shop', 'gitea', 'http://git.example.com:443/acme/shop/commit/abc'],
    ['https://git.example.com/acme/shop', undefined, undefined],
  ] as const
  for (const [address, provider, url] of cases) {
    t.equal(
      commitURL(targetOf('GitCommit', parseRepositoryAddress(address), { provider }), 'abc'),
      url,
      address,
    )
  }
})
