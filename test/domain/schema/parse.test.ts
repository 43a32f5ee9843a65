import t from 'tap'
import { parse, requireSound } from '../../../functions/domain/schema/parse.ts'
import { envelopeOf } from '../../../functions/domain/resource/envelope.ts'
import type { FieldError } from '../../../functions/domain/field-error.ts'
import { parseResource } from '../fixtures/parsed.ts'

const GITCOMMIT = {
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  metadata: { name: 'settings', namespace: 'shop', uid: 'u', generation: 1, resourceVersion: '7' },
  spec: {
    repository: 'https://git.example.com/acme/shop.git',
    branch: 'main',
    message: 'chore: settings',
    credentials: { secretName: 'git', tokenKey: 'token' },
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'prod/settings.yaml' },
  },
  status: { observedGeneration: -1, phase: 'Pending' },
}

const ENVELOPE = envelopeOf(GITCOMMIT)

const PULLREQUEST = {
  ...GITCOMMIT,
  kind: 'PullRequest',
  spec: {
    repository: 'https://github.com/acme/shop.git',
    baseBranch: 'main',
    headBranch: 'new',
    title: 'New settings',
    labels: ['settings'],
    credentials: { secretName: 'git' },
  },
}

function schemaErrors(value: unknown): readonly FieldError[] {
  return parse(value).fieldErrors
}

function gitCommit(spec: unknown): unknown {
  return { ...GITCOMMIT, spec }
}

t.test('a stored resource of either kind is parsed', async (t) => {
  for (const [whole, host] of [
    [GITCOMMIT, undefined],
    [PULLREQUEST, 'github'],
  ] as const) {
    const resource = parseResource(whole)
    const { kind, metadata, spec, status, target } = resource
    t.strictSame({ apiVersion: resource.apiVersion, kind, metadata, spec, status }, whole)
    t.equal(spec, whole.spec, 'nothing is copied')
    t.equal(target.address.text, whole.spec.repository)
    t.equal(target.host?.name, host)
  }
  t.equal(parseResource({ ...GITCOMMIT, status: undefined }).kind, 'GitCommit')
})

t.test('a resource with a whole status is parsed, whatever a newer release has written there', async (t) => {
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Succeeded',
    message: 'm',
    observedGeneration: 1,
    lastTransitionTime: '2026-11-21T12:00:00Z',
  }
  const commit = { sha: '0'.repeat(40), shortSHA: '0'.repeat(12), branch: 'main', path: 'a.yaml' }
  const status = { observedGeneration: 1, phase: 'Succeeded', conditions: [condition], commit, attempts: 1 }
  t.doesNotThrow(() =>
    parseResource({ ...GITCOMMIT, status: { ...status, startedAt: '2026-11-21T12:00:00Z' } }),
  )
  const newer = { ...status, phase: 'Suspended', digest: 'x', conditions: [{ ...condition, type: 'Signed' }] }
  t.strictSame(parseResource({ ...GITCOMMIT, status: newer }).status, newer, 'of a newer release')
})

t.test('a resource that is not stored needs no metadata', async (t) => {
  t.match(parse({ ...GITCOMMIT, metadata: {}, status: undefined }), { sound: true, fieldErrors: [] })
})

t.test('of an invalid spec the usable parts remain, its target included', async (t) => {
  const faulty = parse(gitCommit({ ...GITCOMMIT.spec, branch: 5, message: '' }))
  t.match(faulty, {
    kind: 'GitCommit',
    sound: false,
    spec: { branch: null, message: '', resourceRef: GITCOMMIT.spec.resourceRef },
    target: { address: { host: 'git.example.com' } },
  })
  t.same(
    faulty.fieldErrors.map(({ field }) => field),
    ['spec.branch', 'spec.message'],
  )
})

t.test('the parser of addresses reports instead of the schema, and where the schema does not', async (t) => {
  for (const [repository, complaint] of [
    ['https://h/%2e%2e/a', /contains "%"/],
    ['https://git.example.com:443/acme/shop', /is not written in its plain form/],
  ] as const) {
    const { fieldErrors, sound, target } = parse(gitCommit({ ...GITCOMMIT.spec, repository }))
    t.match(fieldErrors, [{ reason: 'InvalidSpec', field: 'spec.repository', message: complaint }])
    t.equal(fieldErrors.length, 1)
    t.strictSame([sound, target], [false, undefined])
  }
})

for (const [repository, host] of [
  ['https://git.example.com/acme/shop.git', 'git.example.com'],
  ['https://git.example.com:8443/acme/shop', 'git.example.com'],
  ['https://[2001:db8::1]/acme/shop.git', '2001:db8::1'],
  ['https://[2001:db8::2]:8443/acme/shop.git', '2001:db8::2'],
  ['ssh://git@git.example.com:2222/acme/shop.git', 'git.example.com'],
  ['git@git.example.com:acme/shop.git', 'git.example.com'],
  ['https://token@git.example.com/acme/shop.git', undefined],
  ['no address', undefined],
  [5, undefined],
  [undefined, undefined],
] as const) {
  t.test(`the host of ${String(repository)} is known, whatever else is wrong`, async (t) => {
    t.equal(parse(gitCommit({ repository })).target?.address.host, host)
  })
}

t.test('every field error is reported at once, one sentence per field', async (t) => {
  const fieldErrors = schemaErrors(
    gitCommit({
      repository: 5,
      message: '',
      credentials: { tokenKey: '', usernameKey: 'a b' },
      provider: 'x'.repeat(33),
      providerConfig: [],
      resourceRef: { apiVersion: 'v1', kind: 'Config Map', name: '..', namespace: null },
    }),
  )
  t.same(
    fieldErrors.map(({ message }) => message),
    [
      'spec.repository has to be an address such as https://git.example.com/acme/shop.git, but is a number.',
      'spec.credentials.secretName is missing; it has to be the name of a Secret in the same namespace.',
      'spec.credentials.tokenKey is empty; it has to be the name of a key in the Secret.',
      'spec.credentials.usernameKey has to be the name of a key in the Secret.',
      'spec.provider has 33 characters, but at most 32 are allowed; make it shorter.',
      'spec.providerConfig has to be an object such as {baseURL: "https://git.example.com/api/v4"}, but is a list.',
      'spec.message is empty; it has to be a commit message that is not blank and has no NUL characters.',
      'spec.resourceRef.path is missing; it has to be a path from the top of the repository, such as clusters/prod/settings.yaml.',
      'spec.resourceRef.kind has to be a kind, such as Deployment.',
      'spec.resourceRef.name has to be the name of an object: no "/", no "%", not "." or "..".',
      'spec.resourceRef.namespace has to be the name of a namespace, but is null.',
    ],
  )
  t.same(fieldErrors.map(({ field, reason }) => [field, reason])[0], ['spec.repository', 'InvalidSpec'])
})

t.test('no sentence is raw ajv, and none repeats what was written', async (t) => {
  const fieldErrors = schemaErrors(
    gitCommit({ ...GITCOMMIT.spec, credentials: { secretName: 'hunter 2', tokenKey: 'hun ter2' } }),
  )
  t.equal(fieldErrors.length, 2)
  for (const { message } of fieldErrors) t.notMatch(message, /hun|must|\^/)
})

t.test('lists are bounded and hold nothing twice', async (t) => {
  const many = Array.from({ length: 51 }, (_, index) => `l${index}`)
  const cases: [unknown, string][] = [
    [many, 'spec.labels has 51 entries, but at most 50 are allowed; leave some out.'],
    [['a', 'b', 'a'], 'spec.labels has the entry [0] twice, again as [2]; leave one of them out.'],
    [['a', 5], 'spec.labels[1] has to be the name of a label, but is a number.'],
    ['a', 'spec.labels has to be a list of strings, none of them twice, but is a string.'],
    [true, 'spec.labels has to be a list of strings, none of them twice, but is true or false.'],
    [{}, 'spec.labels has to be a list of strings, none of them twice, but is an object.'],
  ]
  for (const [labels, message] of cases) {
    const found = schemaErrors({ ...PULLREQUEST, spec: { ...PULLREQUEST.spec, labels } })
    t.same(
      found.map((fault) => fault.message),
      [message],
    )
  }
})

t.test('lengths are counted in characters, as the API server counts them', async (t) => {
  for (const [title, count] of [
    ['\u{1f600}'.repeat(255), 0],
    ['\u{1f600}'.repeat(256), 1],
    ['x'.repeat(255), 0],
    ['x'.repeat(256), 1],
    ['', 1],
  ] as const) {
    const spec = { ...PULLREQUEST.spec, title }
    t.equal(schemaErrors({ ...PULLREQUEST, spec }).length, count, `${title.length}`)
  }
})

t.test('names of dots are valid path segments, except "." and ".."', async (t) => {
  const names = { '.': 1, '..': 1, '...': 0, '....a': 0, '.a': 0, '..a': 0, '.../': 1, 'a/b': 1, 'a%': 1 }
  for (const [name, count] of Object.entries(names)) {
    const resourceRef = { ...GITCOMMIT.spec.resourceRef, name }
    t.equal(schemaErrors(gitCommit({ ...GITCOMMIT.spec, resourceRef })).length, count, name)
  }
})

t.test('a million field errors cost as much as one', async (t) => {
  const labels = new Array(1_000_000).fill(1)
  const found = schemaErrors({ ...PULLREQUEST, spec: { ...PULLREQUEST.spec, labels } })
  t.equal(found.length, 1)
})

t.test('any value is answered with a field error, never with a crash', async (t) => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  const values = [
    undefined,
    null,
    5,
    'x',
    [],
    {},
    JSON.parse('{"__proto__": {"apiVersion": "commitlet.dev/v1", "kind": "GitCommit"}}'),
    { apiVersion: 'commitlet.dev/v2', kind: 'GitCommit' },
    { apiVersion: 'commitlet.dev/v1', kind: 'constructor' },
    { apiVersion: 'commitlet.dev/v1', kind: 'GitCommit' },
    gitCommit(null),
    gitCommit([]),
    gitCommit(deep),
    gitCommit({ repository: deep, resourceRef: deep, credentials: deep }),
    gitCommit(JSON.parse('{"__proto__": {"repository": "https://h/a"}, "constructor": 1, "toString": {}}')),
    gitCommit({ repository: 'x'.repeat(1_000_000), message: '\n'.repeat(1_000_000) }),
  ]
  for (const value of values) {
    t.ok(schemaErrors(value).length > 0)
    t.throws(() => requireSound(ENVELOPE, parse(value)), {
      name: 'Failure',
      reason: /^(?:InvalidSpec|NotSupported)$/,
    })
  }
})

t.test('the kind is known for our resources only', async (t) => {
  t.equal(parse(GITCOMMIT).kind, 'GitCommit')
  t.equal(parse(PULLREQUEST).kind, 'PullRequest')
  t.equal(parse({ ...GITCOMMIT, apiVersion: 'v1' }).kind, undefined)
  t.equal(parse(null).kind, undefined)
})
