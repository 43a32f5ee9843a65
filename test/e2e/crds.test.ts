import t from 'tap'
import { judge } from '../domain/fixtures/parsed.ts'
import { reviewContext } from '../domain/fixtures/review-context.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'

type Spec = Readonly<Record<string, unknown>>

const REFERENCE = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'prod/settings.yaml' }
const COMMIT = {
  repository: 'https://git.example.com/acme/shop.git',
  message: 'chore: settings',
  credentials: { secretName: 'git' },
  resourceRef: REFERENCE,
}
const PULL = {
  repository: 'https://github.com/acme/shop.git',
  baseBranch: 'main',
  headBranch: 'new',
  title: 'New settings',
  credentials: { secretName: 'git' },
}

function referring(change: Spec): Spec {
  return { ...COMMIT, resourceRef: { ...REFERENCE, ...change } }
}

const ADMITTED: readonly Spec[] = [
  COMMIT,
  PULL,
  ...['feature/x', 'é', '@', 'x.locked'].map((branch) => ({ ...COMMIT, branch })),
  ...['About Commitlet-Id: x', 'é\n\n- Requested by many'].map((message) => ({ ...COMMIT, message })),
  ...['.gitkeep', 'ünï/日本.yaml', 'a b/c', '-a', '..a/b..'].map((path) => referring({ path })),
  ...['...', '..a', '.a', 'system:node', 'a.b'].map((name) => referring({ name })),
  referring({ apiVersion: 'example.com/v1', kind: 'Secret', namespace: 'shop' }),
  { ...COMMIT, sync: 'Once' },
  ...['1m', '1h30m', '1.5h', '24h'].map((interval) => ({ ...COMMIT, sync: 'OnChange', interval })),
  { ...PULL, headBranch: 'dev:new', labels: ['a', 'b'], draft: true },
]

/** Refused by the API server alone, as while the webhook is down. */
const REFUSED: readonly Spec[] = [
  ...[
    'https://h/a/../b',
    'https://h/%2e%2e/b',
    'https://u:p@h/a',
    'git@h:-a',
    'ext::sh',
    'https://H/a',
    '',
  ].map((repository) => ({ ...COMMIT, repository })),
  ...['-x', 'a..b', 'a.lock/b', 'HEAD', 'a/.b', 'a b', 'a/', 'a@{1}', ''].map((branch) => ({
    ...COMMIT,
    branch,
  })),
  ...['Commitlet-Id: x', 'x\n\n \tCOMMITLET-x: y', 'x\r\nrequested-by : y', ' \n ', ''].map((message) => ({
    ...COMMIT,
    message,
  })),
  ...['/a', 'a//b', 'a/../b', '.', 'a/', '.GIT/x', 'git~1', '.git ', '.git::$DATA', 'a\\b', 'a\tb', ''].map(
    (path) => referring({ path }),
  ),
  ...['.', '..', 'a/b', 'a%2fb', ''].map((name) => referring({ name })),
  referring({ kind: 'Secret' }),
  referring({ namespace: '../x' }),
  { ...COMMIT, credentials: { secretName: 'git', tokenKey: 't', passwordKey: 'p' } },
  { ...COMMIT, credentials: { secretName: 'git', tokenKey: '' } },
  { ...COMMIT, credentials: {} },
  { ...COMMIT, sync: 'Always' },
  { ...COMMIT, interval: '10m' },
  ...['59s', '25h', '10', '1d', ''].map((interval) => ({ ...COMMIT, sync: 'OnChange', interval })),
  { ...COMMIT, credentials: undefined, fallbackCredentials: { secretName: 'git' } },
  { ...PULL, headBranch: 'a:b:c' },
  { ...PULL, headBranch: 'dev:.x' },
  { ...PULL, labels: ['a', 'a'] },
  { ...PULL, title: 'a\nb' },
]

function resource(spec: Spec, name: string, namespace: string): unknown {
  const kind = 'title' in spec ? 'PullRequest' : 'GitCommit'
  return { apiVersion: 'commitlet.dev/v1', kind, metadata: { name, namespace }, spec }
}

/** Names of those that a dry run on the server admits. */
async function admitted(plane: ControlPlane, items: readonly unknown[]): Promise<ReadonlySet<string>> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const { stdout } = await plane.kubectl(
    ['create', '--dry-run=server', '--validate=false', '-o', 'name', '-f', '-'],
    {
      input,
      allowFailure: true,
    },
  )
  return new Set(stdout.split('\n').map((line) => line.replace(/^.*\//, '')))
}

async function install(plane: ControlPlane): Promise<string> {
  await plane.apply(new URL('../../manifests/crds', import.meta.url).pathname)
  const crds = ['crd/gitcommits.commitlet.dev', 'crd/pullrequests.commitlet.dev']
  await plane.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...crds])
  return plane.createNamespace()
}

withControlPlane(t, async (t, plane) => {
  const namespace = await install(plane)

  await t.test('the CRDs alone refuse what the gate refuses, and admit what it admits', async (t) => {
    const anything = reviewContext({ namespace, referenceScope: 'any' })
    const items = [...ADMITTED, ...REFUSED].map((spec, index) => resource(spec, `case-${index}`, namespace))
    const names = await admitted(plane, items)
    for (const [index, item] of items.entries()) {
      const isSound = index < ADMITTED.length
      t.equal(names.has(`case-${index}`), isSound, `CRD: case ${index}`)
      t.equal((await judge(item, anything)).fieldErrors.length === 0, isSound, `gate: case ${index}`)
    }
  })

  await t.test('the branches and the repository of a pull request cannot change', async (t) => {
    await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(resource(PULL, 'stays', namespace)) })
    const changes = { repository: 'https://github.com/acme/other', baseBranch: 'next', headBranch: 'other' }
    for (const [field, value] of Object.entries(changes)) {
      const patch = JSON.stringify({ spec: { [field]: value } })
      const { code, stderr } = await plane.kubectl(
        ['-n', namespace, 'patch', 'gpr', 'stays', '--type=merge', '-p', patch],
        { allowFailure: true },
      )
      t.equal(code, 1)
      t.match(stderr, `${field} cannot be changed: make another PullRequest.`)
    }
    const title = JSON.stringify({ spec: { title: 'Newer settings' } })
    await plane.kubectl(['-n', namespace, 'patch', 'gpr', 'stays', '--type=merge', '-p', title])
  })

  await t.test(
    'a fresh resource is Pending for everyone, also with an empty status sent along',
    async (t) => {
      const sent = Object.assign({}, resource(COMMIT, 'fresh', namespace), { status: {} })
      await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(sent) })
      const path = ['-n', namespace, 'get', 'gcommit', '-o']
      const { stdout } = await plane.kubectl([...path, 'jsonpath={.items[*].status}'])
      t.same(JSON.parse(stdout), { observedGeneration: -1, phase: 'Pending' })
      const selected = await plane.kubectl([...path, 'name', '--field-selector', 'status.phase=Pending'])
      t.equal(selected.stdout, 'gitcommit.commitlet.dev/fresh\n')
      t.equal((await plane.kubectl([...path, 'name', '--field-selector', 'status.phase=Failed'])).stdout, '')
    },
  )

  await t.test('kubectl explain describes each field', async (t) => {
    const { stdout } = await plane.kubectl(['explain', 'gitcommit.spec.resourceRef.path'])
    t.match(stdout.replace(/\s+/g, ' '), /relative to the top of the repository.*Example: clusters\/prod/)
  })
})
