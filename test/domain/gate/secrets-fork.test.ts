import t from 'tap'
import { forkErrors } from '../../../functions/domain/gate/secrets.ts'
import type { SecretRights } from '../../../functions/domain/gate/secrets.ts'
import { draftOf } from '../../../functions/domain/schema/draft.ts'
import type { PullRequestSpec } from '../../../functions/domain/spec/spec.ts'
import { PULLREQUEST_SPEC } from '../../../functions/domain/crd/pull-request.ts'
import { judge } from '../fixtures/parsed.ts'
import { reviewContext } from '../fixtures/review-context.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const GIT = { secretName: 'git' }
const SPARE = { secretName: 'spare' }
const BRANCHES = { headBranch: 'dev:feature', credentials: GIT }

const RIGHTS: readonly (readonly [
  title: string,
  Record<string, unknown>,
  SecretRights,
  RegExp | undefined,
])[] = [
  ['a user who may get the Secret may use it for a fork', BRANCHES, { 'spec.credentials': 'get' }, undefined],
  [
    'a user who may only use it may not',
    BRANCHES,
    { 'spec.credentials': 'use' },
    /you need the right to `get` the Secret; `use` is not enough/,
  ],
  [
    'that holds for the second Secret too',
    { ...BRANCHES, fallbackCredentials: SPARE },
    { 'spec.credentials': 'get', 'spec.fallbackCredentials': 'use' },
    /`use` is not enough/,
  ],
  [
    'a user who may get both Secrets may',
    { ...BRANCHES, fallbackCredentials: SPARE },
    { 'spec.credentials': 'get', 'spec.fallbackCredentials': 'get' },
    undefined,
  ],
  ['a user without any right gets another field error', BRANCHES, {}, undefined],
  [
    "the operator's default is not for forks",
    { headBranch: 'dev:feature' },
    {},
    /default credentials are not allowed; name a Secret/,
  ],
  [
    'a branch of the repository itself needs no such right',
    { ...BRANCHES, headBranch: 'feature' },
    { 'spec.credentials': 'use' },
    undefined,
  ],
  [
    'what is not text is reported by the schema',
    { ...BRANCHES, headBranch: 5 },
    { 'spec.credentials': 'use' },
    undefined,
  ],
]

for (const [title, spec, rights, message] of RIGHTS) {
  t.test(title, async (t) => {
    const fieldErrors = forkErrors(draftOf<PullRequestSpec>(spec, PULLREQUEST_SPEC) ?? {}, rights)
    if (message === undefined) return t.same(fieldErrors, [])
    t.match(fieldErrors, [{ reason: 'ReferenceForbidden', field: 'spec.headBranch', message }])
  })
}

function resource(spec: Record<string, unknown>): unknown {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { namespace: 'shop' },
    spec: {
      repository: 'https://github.com/acme/shop.git',
      baseBranch: 'main',
      title: 'New settings',
      ...BRANCHES,
      ...spec,
    },
  }
}

async function judged(spec: Record<string, unknown>, verbs: readonly string[]): Promise<string[]> {
  const world = reviewContext({ review: ({ verb }) => Promise.resolve(verbs.includes(verb)) })
  const { fieldErrors } = await judge(resource(spec), world)
  return fieldErrors.map(({ reason, field }) => `${reason} ${field}`)
}

t.test('the gate reports it with everything else, and nothing twice', async (t) => {
  t.same(await judged({}, ['get']), [])
  t.same(await judged({}, ['use']), ['ReferenceForbidden spec.headBranch'])
  t.same(await judged({ baseBranch: '-x' }, ['use']), [
    'InvalidSpec spec.baseBranch',
    'ReferenceForbidden spec.headBranch',
  ])
  t.same(await judged({}, []), ['ReferenceForbidden spec.credentials.secretName'])
  t.same(await judged({ credentials: undefined }, ['use']), ['ReferenceForbidden spec.headBranch'])
  t.same(await judged({ repository: 'https://gitlab.com/acme/shop' }, ['use']), [
    'NotSupported spec.headBranch',
  ])
  t.same(await judged({ headBranch: 'dev:ops:feature' }, ['get']), ['InvalidSpec spec.headBranch'])
})

t.test('a pull request of any size is judged quickly', async (t) => {
  const many = Array.from({ length: 1_000_000 }, () => 'dev')
  const long = 'a:'.repeat(2_000_000)
  const began = cpuTime()
  for (const repository of ['https://github.com/acme/shop', 'https://bitbucket.org/acme/shop', long]) {
    const spec = {
      repository,
      headBranch: long,
      title: long,
      body: long,
      labels: many,
      reviewers: many,
      assignees: long,
    }
    t.ok((await judged(spec, ['get'])).length >= 4)
  }
  t.ok(cpuTime() - began < allowedMs(500))
})
