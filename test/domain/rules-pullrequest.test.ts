import t from 'tap'
import { parseRepositoryAddress } from '../../functions/domain/address.ts'
import { hostOf } from '../../functions/domain/hosts.ts'
import { pullRequestFaults } from '../../functions/domain/rules-pullrequest.ts'

function faults(repository: string, spec: Record<string, unknown>): string[] {
  const address = parseRepositoryAddress(repository)
  const host = hostOf(address, typeof spec.provider === 'string' ? spec.provider : undefined)
  if (host === undefined) throw new Error('no host')
  return pullRequestFaults(spec, address, host).map(({ reason, message }) => `${reason} ${message}`)
}

const GITHUB = 'https://github.com/acme/shop'
const GITLAB = 'https://gitlab.com/acme/shop'
const BITBUCKET = 'https://bitbucket.org/acme/shop'
const UUID = '{7f9a4c2e-1b3d-4e5f-8a6b-9c0d1e2f3a4b}'

t.test('what a host does not have is refused, unless nothing is asked', async (t) => {
  const asked = { labels: ['a'], reviewers: [UUID], assignees: ['dev'], draft: true }
  t.same(faults(GITHUB, asked), [])
  t.same(faults(GITLAB, asked), [])
  t.same(faults('https://git.example.com/acme/shop', { ...asked, provider: 'gitea' }), [])
  t.same(faults(BITBUCKET, asked), [
    'InvalidSpec spec.labels cannot be set on bitbucket; leave it out.',
    'InvalidSpec spec.assignees cannot be set on bitbucket; leave it out.',
  ])
  t.same(faults(BITBUCKET, { labels: [], assignees: [], draft: false }), [])
})

const PATHS: readonly (readonly [string, Record<string, unknown>, boolean])[] = [
  [GITHUB, {}, true],
  ['https://github.com/shop', {}, false],
  ['https://github.com/acme/team/shop', {}, false],
  ['git@github.com:acme/shop.git', {}, true],
  ['git@github.com:acme/team/shop.git', {}, false],
  [GITLAB, {}, true],
  ['https://gitlab.com/acme/team/group/shop', {}, true],
  ['https://gitlab.com/shop', {}, false],
  ['https://bitbucket.org/acme/team/shop', {}, false],
  [`https://bitbucket.org/${UUID}/${UUID}`, {}, true],
  ['https://git.example.com/git/acme/shop', { provider: 'gitea' }, false],
]

t.test('a repository is named by as many parts as its host has', async (t) => {
  for (const [repository, spec, fits] of PATHS)
    t.equal(faults(repository, spec).length, fits ? 0 : 1, repository)
  t.same(faults('https://github.com/shop', {}), [
    'InvalidSpec spec.repository does not name owner and name, as a repository on github has them; mend its path.',
  ])
  t.same(faults('https://gitlab.com/shop', {}), [
    'InvalidSpec spec.repository does not name a group and a name, as a repository on gitlab has them; mend its path.',
  ])
})

t.test('the address of a page of GitLab is none of a repository', async (t) => {
  for (const page of ['/acme/web/config/-/merge_requests/1', '/acme/config/-/tree/main'])
    t.same(faults(`https://gitlab.com${page}`, {}), [
      'InvalidSpec spec.repository has "-" as a part of its path, after which gitlab has the pages of a repository; write the address of the repository itself.',
    ])
  t.same(faults('https://gitlab.com/acme/-config-/a-b', {}), [])
})

t.test('a part of a path on Bitbucket that begins with a brace is a UUID', async (t) => {
  const strange = [
    '{}',
    '{',
    '{shop}',
    '{{}}',
    UUID.slice(0, -1),
    `${UUID}x`,
    `{${UUID}}`,
    `{${UUID.slice(2)}`,
  ]
  for (const part of strange)
    for (const path of [`${part}/shop`, `acme/${part}`, `${UUID}/${part}`])
      t.same(
        faults(`https://bitbucket.org/${path}`, {}),
        [
          'InvalidSpec spec.repository has a part of its path that bitbucket does not have; write slugs, or UUIDs in braces.',
        ],
        path,
      )
  for (const path of [`${UUID}/shop`, `acme/${UUID}.git`, `acme/${UUID.toUpperCase()}`, 'acme/a{}'])
    t.same(faults(`https://bitbucket.org/${path}`, {}), [], path)
  t.same(faults('https://gitlab.com/acme/{}', {}), [], 'elsewhere braces mean nothing')
})

t.test('what lies before an installation is no part of it', async (t) => {
  const at = (prefix: string, provider: string, api: string): Record<string, unknown> => ({
    provider,
    providerConfig: { baseURL: `https://git.example.com${prefix}${api}` },
  })
  const deep = 'https://git.example.com/git/acme/shop'
  t.same(faults(deep, at('/git', 'gitea', '/api/v1')), [])
  t.same(faults(deep, at('/git', 'github', '/api/v3')), [])
  t.equal(faults(deep, at('', 'gitea', '/api/v1')).length, 1)
  t.same(faults(deep, at('', 'gitlab', '/api/v4')), [])
  t.equal(faults(deep, at('/git/acme', 'gitlab', '/api/v4')).length, 1)
})

t.test('the branch of a fork is refused by name where that does not work yet', async (t) => {
  const spec = { headBranch: 'dev:feature' }
  t.same(faults(GITHUB, spec), [])
  for (const [repository, name, more] of [
    [GITLAB, 'gitlab', {}],
    [BITBUCKET, 'bitbucket', {}],
    ['https://git.example.com/acme/shop', 'gitea', { provider: 'gitea' }],
  ] as const) {
    t.same(faults(repository, { ...spec, ...more }), [
      `NotSupported spec.headBranch asks for the branch of a fork, which is not supported on ${name} yet; write the name of a branch of the repository itself.`,
    ])
  }
  for (const headBranch of ['feature', undefined, 5, null]) t.same(faults(GITLAB, { headBranch }), [])
})

t.test('people on Bitbucket are named by UUID or account ID', async (t) => {
  const sound = [UUID, '557058:7f9a4c2e-1b3d-4e5f-8a6b-9c0d1e2f3a4b', '5b10ac8d82e05b22cc7d4ef5']
  t.same(faults(BITBUCKET, { reviewers: sound }), [])
  for (const name of ['dev', 'dev@example.com', UUID.slice(1, -1), `${UUID} `, '', `${UUID}\n`]) {
    t.same(faults(BITBUCKET, { reviewers: [UUID, name] }), [
      'InvalidSpec spec.reviewers names somebody otherwise than bitbucket does; write a UUID in braces or an account ID of Atlassian.',
    ])
  }
  t.same(faults(GITHUB, { reviewers: ['dev'] }), [])
})

t.test('elsewhere people are named by plain user names', async (t) => {
  for (const [repository, name, more] of [
    [GITHUB, 'github', {}],
    [GITLAB, 'gitlab', {}],
    ['https://git.example.com/acme/shop', 'gitea', { provider: 'gitea' }],
  ] as const) {
    t.same(faults(repository, { ...more, reviewers: ['dev', 'dev_2.x-y', 'd@v'], assignees: ['ops'] }), [])
    for (const person of ['@dev', 'acme/web', 'acme/'])
      for (const field of ['reviewers', 'assignees'])
        t.same(faults(repository, { ...more, [field]: ['dev', person] }), [
          `InvalidSpec spec.${field} names somebody otherwise than ${name} does; write user names, without "@" before them and none of a team or a group.`,
        ])
  }
})

t.test('a label of GitLab has no comma in its name', async (t) => {
  t.same(faults(GITLAB, { labels: ['shop', 'in, out'] }), [
    'InvalidSpec spec.labels names a label otherwise than gitlab does; write names without a comma.',
  ])
  t.same(faults(GITHUB, { labels: ['in, out'] }), [])
  for (const labels of [',', 5, null, [5, null, [',']], [','.repeat(300)]])
    t.same(faults(GITLAB, { labels }), [], 'the schema tells')
})

t.test('what is no list of names, the schema speaks of', async (t) => {
  for (const reviewers of ['dev', 5, null, {}, [5, null, ['dev']], ['x'.repeat(300)]])
    t.same(faults(BITBUCKET, { reviewers }), [], JSON.stringify(reviewers).slice(0, 20))
  const many = [...Array.from({ length: 50 }, () => UUID), 'dev']
  t.same(faults(BITBUCKET, { reviewers: many }), [], 'more than 50')
})

t.test('all of it is told at once', async (t) => {
  const spec = { headBranch: 'dev:feature', labels: ['a'], reviewers: ['dev'] }
  t.equal(faults('https://bitbucket.org/shop', spec).length, 4)
})

t.test('a million entries and megabytes cost nothing', async (t) => {
  const began = performance.now()
  const many = Array.from({ length: 1_000_000 }, () => UUID)
  for (const repository of [GITHUB, BITBUCKET])
    faults(repository, { reviewers: many, labels: many, headBranch: ':'.repeat(5_000_000) })
  faults(BITBUCKET, { reviewers: Array.from({ length: 50 }, () => '{'.repeat(1_000_000)) })
  t.ok(performance.now() - began < 1_000)
})
