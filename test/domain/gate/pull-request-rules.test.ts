import t from 'tap'
import { pullRequestErrors } from '../../../functions/domain/gate/pull-request-rules.ts'
import { readable } from '../fixtures/parsed.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

function fieldErrors(repository: string, spec: Record<string, unknown>): string[] {
  const parsed = readable('PullRequest', { repository, ...spec })
  const host = parsed.target?.host
  if (parsed.kind !== 'PullRequest' || parsed.target === undefined || host === undefined)
    throw new Error('no host')
  return pullRequestErrors(parsed.spec, parsed.target, host).map(
    ({ reason, message }) => `${reason} ${message}`,
  )
}

const GITHUB = 'https://github.com/acme/shop'
const GITLAB = 'https://gitlab.com/acme/shop'
const BITBUCKET = 'https://bitbucket.org/acme/shop'
const UUID = '{7f9a4c2e-1b3d-4e5f-8a6b-9c0d1e2f3a4b}'

t.test('what a host does not support is refused, unless the list is empty', async (t) => {
  const asked = { labels: ['a'], reviewers: [UUID], assignees: ['dev'], draft: true }
  t.same(fieldErrors(GITHUB, asked), [])
  t.same(fieldErrors(GITLAB, asked), [])
  t.same(fieldErrors('https://git.example.com/acme/shop', { ...asked, provider: 'gitea' }), [])
  t.same(fieldErrors(BITBUCKET, asked), [
    'InvalidSpec spec.labels cannot be set on bitbucket; leave it out.',
    'InvalidSpec spec.assignees cannot be set on bitbucket; leave it out.',
  ])
  t.same(fieldErrors(BITBUCKET, { labels: [], assignees: [], draft: false }), [])
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

t.test('a repository path has as many parts as its host uses', async (t) => {
  for (const [repository, spec, fits] of PATHS)
    t.equal(fieldErrors(repository, spec).length, fits ? 0 : 1, repository)
  t.same(fieldErrors('https://github.com/shop', {}), [
    'InvalidSpec spec.repository does not name owner and name, as a repository on github has them; fix its path.',
  ])
  t.same(fieldErrors('https://gitlab.com/shop', {}), [
    'InvalidSpec spec.repository does not name a group and a name, as a repository on gitlab has them; fix its path.',
  ])
})

t.test('the address of a page of GitLab is not that of a repository', async (t) => {
  const selfManaged = { provider: 'gitlab', providerConfig: { baseURL: 'https://git.example.com/api/v4' } }
  t.same(fieldErrors('https://git.example.com/acme/config/-/tree/main', selfManaged), [
    'InvalidSpec spec.repository has "-" as a part of its path, after which gitlab puts the pages of a repository; write the address of the repository itself.',
  ])
  t.same(fieldErrors('https://gitlab.com/acme/-config-/a-b', {}), [])
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
        fieldErrors(`https://bitbucket.org/${path}`, {}),
        [
          'InvalidSpec spec.repository has a part of its path that bitbucket does not have; write slugs, or UUIDs in braces.',
        ],
        path,
      )
  for (const path of [`${UUID}/shop`, `acme/${UUID}.git`, `acme/${UUID.toUpperCase()}`, 'acme/a{}'])
    t.same(fieldErrors(`https://bitbucket.org/${path}`, {}), [], path)
  t.same(fieldErrors('https://gitlab.com/acme/{}', {}), [], 'elsewhere braces mean nothing')
})

t.test('what comes before the path of an installation is not part of it', async (t) => {
  const at = (prefix: string, provider: string, api: string): Record<string, unknown> => ({
    provider,
    providerConfig: { baseURL: `https://git.example.com${prefix}${api}` },
  })
  const deep = 'https://git.example.com/git/acme/shop'
  t.same(fieldErrors(deep, at('/git', 'gitea', '/api/v1')), [])
  t.same(fieldErrors(deep, at('/git', 'github', '/api/v3')), [])
  t.equal(fieldErrors(deep, at('', 'gitea', '/api/v1')).length, 1)
  t.same(fieldErrors(deep, at('', 'gitlab', '/api/v4')), [])
  t.equal(fieldErrors(deep, at('/git/acme', 'gitlab', '/api/v4')).length, 1)
})

t.test('the branch of a fork is refused where it is not supported yet', async (t) => {
  const spec = { headBranch: 'dev:feature' }
  t.same(fieldErrors(GITHUB, spec), [])
  for (const [repository, name, more] of [
    [GITLAB, 'gitlab', {}],
    [BITBUCKET, 'bitbucket', {}],
    ['https://git.example.com/acme/shop', 'gitea', { provider: 'gitea' }],
  ] as const) {
    t.same(fieldErrors(repository, { ...spec, ...more }), [
      `NotSupported spec.headBranch asks for the branch of a fork, which is not supported on ${name} yet; write the name of a branch of the repository itself.`,
    ])
  }
  for (const headBranch of ['feature', undefined, 5, null]) t.same(fieldErrors(GITLAB, { headBranch }), [])
})

t.test('people on Bitbucket are named by UUID or account ID', async (t) => {
  const sound = [UUID, '557058:7f9a4c2e-1b3d-4e5f-8a6b-9c0d1e2f3a4b', '5b10ac8d82e05b22cc7d4ef5']
  t.same(fieldErrors(BITBUCKET, { reviewers: sound }), [])
  for (const name of ['dev', 'dev@example.com', UUID.slice(1, -1), `${UUID} `, '', `${UUID}\n`]) {
    t.same(fieldErrors(BITBUCKET, { reviewers: [UUID, name] }), [
      'InvalidSpec spec.reviewers[1] names a user in a form that bitbucket does not use; write a UUID in braces or an account ID of Atlassian.',
    ])
  }
  t.same(fieldErrors(GITHUB, { reviewers: ['dev'] }), [])
})

t.test('elsewhere people are named by plain user names', async (t) => {
  for (const [repository, name, more] of [
    [GITHUB, 'github', {}],
    [GITLAB, 'gitlab', {}],
    ['https://git.example.com/acme/shop', 'gitea', { provider: 'gitea' }],
  ] as const) {
    t.same(
      fieldErrors(repository, { ...more, reviewers: ['dev', 'dev_2.x-y', 'd@v'], assignees: ['ops'] }),
      [],
    )
    for (const person of ['@dev', 'acme/web', 'acme/'])
      for (const field of ['reviewers', 'assignees'])
        t.same(fieldErrors(repository, { ...more, [field]: ['dev', person] }), [
          `InvalidSpec spec.${field}[1] names a user in a form that ${name} does not use; write user names without "@", and not those of teams or groups.`,
        ])
  }
})

t.test('a label of GitLab has no comma in its name', async (t) => {
  t.same(fieldErrors(GITLAB, { labels: ['shop', 'in, out'] }), [
    'InvalidSpec spec.labels[1] names a label in a form that gitlab does not use; write names without a comma.',
  ])
  t.same(fieldErrors(GITHUB, { labels: ['in, out'] }), [])
  for (const labels of [',', 5, null, [5, null, [',']], [','.repeat(300)]])
    t.same(fieldErrors(GITLAB, { labels }), [], 'the schema tells')
})

t.test('what is not a list of names is reported by the schema', async (t) => {
  for (const reviewers of ['dev', 5, null, {}, [5, null, ['dev']], ['x'.repeat(300)]])
    t.same(fieldErrors(BITBUCKET, { reviewers }), [], JSON.stringify(reviewers).slice(0, 20))
  const many = [...Array.from({ length: 50 }, () => UUID), 'dev']
  t.same(fieldErrors(BITBUCKET, { reviewers: many }), [], 'more than 50')
})

t.test('all of it is reported at once', async (t) => {
  const spec = { headBranch: 'dev:feature', labels: ['a'], reviewers: ['dev'] }
  t.equal(fieldErrors('https://bitbucket.org/shop', spec).length, 4)
})

t.test('a million entries and megabytes take almost no time', async (t) => {
  const began = cpuTime()
  const many = Array.from({ length: 1_000_000 }, () => UUID)
  for (const repository of [GITHUB, BITBUCKET])
    fieldErrors(repository, { reviewers: many, labels: many, headBranch: ':'.repeat(5_000_000) })
  fieldErrors(BITBUCKET, { reviewers: Array.from({ length: 50 }, () => '{'.repeat(1_000_000)) })
  t.ok(cpuTime() - began < allowedMs(100))
})
