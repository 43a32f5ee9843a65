import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { failureOf } from '../../../functions/domain/gate/gate.ts'
import { judge } from '../fixtures/parsed.ts'
import { gitCommit, referring, SPEC } from '../fixtures/gitcommit.ts'
import { pullRequest } from '../fixtures/pullrequest.ts'
import { reviewContext } from '../fixtures/review-context.ts'

t.test('a valid resource passes, before it is stored and after', async (t) => {
  t.same(await judge(gitCommit(SPEC), reviewContext()), {
    fieldErrors: [],
    warnings: [],
    served: new Map([['ConfigMap of v1', { plural: 'configmaps', namespaced: true }]]),
    secretRights: { 'spec.credentials': 'get' },
  })
})

t.test('schema and rules report together; where both report a field, the rule counts', async (t) => {
  const spec = { ...SPEC, repository: 'https://h/%2e%2e/a', branch: 5, message: 'Commitlet-Id: x' }
  const { fieldErrors } = await judge(gitCommit(spec), reviewContext())
  t.same(
    fieldErrors.map(({ message }) => message),
    [
      'spec.branch has to be the name of a branch, but is a number.',
      'spec.repository contains "%"; rename what has a space or the like in its name, or write its ID where the host takes that, as Azure DevOps does for projects.',
      'spec.message begins line 1 with "Commitlet-" or "Requested-by:", which Commitlet alone writes; leave that line out.',
    ],
  )
})

t.test(
  'http passes for a host of INSECURE_HOSTS alone, and ALLOWED_REPOSITORIES holds there too',
  async (t) => {
    const spec = { ...SPEC, repository: 'http://git.example.com/acme/shop.git' }
    const refused = await judge(gitCommit(spec), reviewContext())
    t.match(refused.fieldErrors, [
      {
        reason: 'InvalidSpec',
        field: 'spec.repository',
        message: 'spec.repository begins with http://, which is not encrypted; write https:// instead.',
      },
    ])
    const insecureHosts = [{ host: 'git.example.com', port: undefined }]
    t.same((await judge(gitCommit(spec), reviewContext({ insecureHosts }))).fieldErrors, [])
    t.match(
      (
        await judge(
          gitCommit({ ...spec, repository: 'http://git.example.com:443/a' }),
          reviewContext({ insecureHosts }),
        )
      ).fieldErrors,
      [{ reason: 'InvalidSpec' }],
    )
    const elsewhere = { insecureHosts, allowedRepositories: 'git.example.com:443' }
    t.match((await judge(gitCommit(spec), reviewContext(elsewhere))).fieldErrors, [
      { reason: 'AddressForbidden' },
    ])
    const allowed = { insecureHosts, allowedRepositories: 'git.example.com/acme' }
    t.same(
      (await judge(gitCommit(spec), reviewContext(allowed))).fieldErrors,
      [],
      "no port is the scheme's own",
    )
  },
)

t.test(
  'a port that the operator allows for SSH is not the API on another port of the same host',
  async (t) => {
    const spec = {
      repository: 'ssh://git@git.example.com:8443/acme/shop.git',
      provider: 'gitlab',
      providerConfig: { baseURL: 'https://git.example.com/api/v4' },
      baseBranch: 'main',
      headBranch: 'next',
      title: 'Next',
      credentials: { secretName: 'git', tokenKey: 'token' },
    }
    const fieldErrors = async (allowedRepositories: string): Promise<unknown> =>
      (await judge(pullRequest(spec), reviewContext({ allowedRepositories }))).fieldErrors
    t.same(await fieldErrors('git.example.com:8443, git.example.com'), [])
    for (const one of ['git.example.com:8443', 'git.example.com'])
      t.match(await fieldErrors(one), [{ reason: 'AddressForbidden', field: 'spec.repository' }], one)
  },
)

t.test('a kind that the cluster does not know is a warning', async (t) => {
  const verdict = await judge(referring({ apiVersion: 'example.com/v1', kind: 'Widget' }), reviewContext())
  t.same(verdict.fieldErrors, [])
  t.match(verdict.warnings, [/Widget of example\.com\/v1, which the cluster does not know \(yet\)/])
})

t.test('a path that configures the host is a warning', async (t) => {
  const { fieldErrors, warnings } = await judge(
    referring({ path: '.github/workflows/a.yaml' }),
    reviewContext(),
  )
  t.same([fieldErrors.length, warnings.length], [0, 1])
})

t.test('the cluster is not asked for a kind that is invalid or refused', async (t) => {
  for (const reference of [{ kind: 'Secret' }, { kind: 'Config Map' }, { apiVersion: '../x' }, { kind: 5 }]) {
    const world = reviewContext()
    await judge(referring(reference), world)
    t.same(world.asked, [], JSON.stringify(reference))
  }
})

t.test('a cluster that does not answer decides nothing', async (t) => {
  const silent = (): Promise<never> =>
    Promise.reject(new Failure('Timeout', 'The API server did not answer.'))
  for (const failing of [{ discover: silent }, { review: silent }]) {
    await t.rejects(judge(gitCommit(SPEC), reviewContext(failing)), { name: 'Failure', reason: 'Timeout' })
  }
})

t.test('a pull request has no reference to check', async (t) => {
  const spec = {
    repository: 'https://github.com/acme/shop.git',
    baseBranch: 'main',
    headBranch: 'new',
    title: 'New settings',
    credentials: { secretName: 'git' },
  }
  const world = reviewContext()
  const resource = {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { namespace: 'shop' },
    spec,
  }
  t.same(await judge(resource, world), {
    fieldErrors: [],
    warnings: [],
    served: new Map(),
    secretRights: { 'spec.credentials': 'get' },
  })
  t.same(world.asked, [])
  t.same(
    world.reviewed.map(({ resource }) => resource),
    ['secrets'],
  )
})

t.test('anything at all gets a verdict', async (t) => {
  for (const value of [
    undefined,
    null,
    5,
    [],
    {},
    gitCommit(undefined),
    gitCommit([]),
    gitCommit({ resourceRef: 'x' }),
  ]) {
    t.ok((await judge(value, reviewContext())).fieldErrors.length > 0)
  }
})

t.test('an attempt fails with the first reason and every sentence', async (t) => {
  const verdict = await judge(
    gitCommit({ ...SPEC, branch: '-x', message: 'Commitlet-Id: x' }),
    reviewContext(),
  )
  const failure = failureOf(verdict)
  t.equal(failure?.reason, 'InvalidSpec')
  t.match(failure?.message, /^spec\.branch begins with "-"; .*\. spec\.message begins line 1 with .*\.$/)
  t.equal(failureOf({ fieldErrors: [] }), undefined)
})

t.test('a text that is too long is reported once, and not checked further', async (t) => {
  const long = 'x'.repeat(300)
  const cases = [
    { ...SPEC, provider: long, providerConfig: { baseURL: 'https://git.example.com/api/v3' } },
    { ...SPEC, credentials: { secretName: 'git', usernameKey: 'user', passwordKey: long } },
    { ...SPEC, resourceRef: { ...SPEC.resourceRef, namespace: long } },
    { ...SPEC, repository: `https://git.example.com/${'a/'.repeat(1_024)}a` },
  ]
  for (const spec of cases) {
    const { fieldErrors } = await judge(gitCommit(spec), reviewContext())
    t.match(fieldErrors, [
      { message: /^spec\.[.A-Za-z]+ has \d+ characters, but at most \d+ are allowed; [a-z ]+\.$/ },
    ])
    t.equal(fieldErrors.length, 1)
  }
})
