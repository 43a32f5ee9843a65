import { readFileSync } from 'node:fs'
import t from 'tap'
import { installObjects } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { waitFor } from '../harness/wait.ts'
import { ROOT } from './read.ts'

const PAGE = readFileSync(new URL('docs/policy.md', ROOT), 'utf8')
const POLICIES = [...PAGE.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => text)
const credentials = { secretName: 'git-credentials', tokenKey: 'token' }

withControlPlane(t, async (t, plane) => {
  await installObjects(plane)
  const namespace = await plane.createNamespace()
  const elsewhere = await plane.createNamespace()
  await plane.kubectl(['label', 'namespace', namespace, 'example.com/tenant=true'])
  await plane.apply(POLICIES.join('---\n'))
  t.teardown(() =>
    plane.kubectl(['delete', '-f', '-', '--ignore-not-found'], { input: POLICIES.join('---\n') }),
  )

  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop' }
  const resourceRef = { ...reference, path: `${namespace}/shop.yaml` }
  const commit = {
    repository: `https://git.example.com/teams/${namespace}/config.git`,
    branch: 'commitlet/shop',
    message: 'SHOP-12 Record the shop',
    credentials,
    resourceRef,
  }
  const pull = {
    repository: 'https://github.com/acme/config.git',
    baseBranch: 'main',
    headBranch: 'commitlet/shop',
    title: 'The shop',
    credentials,
    reviewers: ['dev'],
  }

  /** What the API server says to a resource with this spec: nothing if it takes it. */
  async function refusal(kind: string, spec: object, where = namespace): Promise<string> {
    const input = JSON.stringify({ apiVersion: 'commitlet.dev/v1', kind, metadata: { name: 'shop' }, spec })
    const args = ['-n', where, 'create', '--dry-run=server', '-f', '-']
    return (await plane.kubectl(args, { input, allowFailure: true })).stderr
  }

  const without = (field: string, spec: object): object =>
    Object.fromEntries(Object.entries(spec).filter(([name]) => name !== field))
  const BROKEN: readonly (readonly [string, string, object, RegExp])[] = [
    [
      'of another team',
      'GitCommit',
      { ...commit, repository: 'https://git.example.com/teams/x/a.git' },
      /spec\.repository is .*write one below/,
    ],
    [
      'over SSH',
      'GitCommit',
      { ...commit, repository: 'git@git.example.com:teams/a.git' },
      /spec\.repository is/,
    ],
    ['to main', 'GitCommit', { ...commit, branch: 'main' }, /spec\.branch does not begin/],
    ['by a placeholder', 'GitCommit', { ...commit, branch: '{name}' }, /spec\.branch does not begin/],
    ['to the default branch', 'GitCommit', without('branch', commit), /spec\.branch does not begin/],
    [
      'to another folder',
      'GitCommit',
      { ...commit, resourceRef: { ...resourceRef, path: `${namespace}x/a.yaml` } },
      /outside of the folder/,
    ],
    [
      'to another folder, of several',
      'GitCommit',
      {
        ...without('resourceRef', commit),
        files: [
          { path: '{namespace}/a', content: 'a' },
          { path: 'b', content: 'b' },
        ],
      },
      /outside of the folder/,
    ],
    [
      'to the folder of the namespace of an object',
      'GitCommit',
      {
        ...without('resourceRef', commit),
        files: [{ path: '{namespace}/a.yaml', resourceRef: { ...reference, namespace: elsewhere } }],
      },
      /outside of the folder/,
    ],
    [
      'to a folder with the name of a placeholder, which is not filled in there',
      'GitCommit',
      { ...commit, resourceRef: { ...resourceRef, path: '{namespace}/a.yaml' } },
      /outside of the folder/,
    ],
    ['without a ticket', 'GitCommit', { ...commit, message: 'Record the shop' }, /key of a ticket/],
    ['without a reviewer', 'PullRequest', without('reviewers', pull), /spec\.reviewers is empty/],
  ]

  t.test('the policies of the documentation deny what they say', async (t) => {
    const both = () =>
      Promise.all([
        refusal('GitCommit', { ...commit, branch: 'main' }),
        refusal('PullRequest', without('reviewers', pull)),
      ])
    // The API server learns of the policies a moment after they are stored.
    await waitFor(
      'refusals',
      async () => ((await both()).every((text) => text !== '') ? true : undefined),
      30_000,
    )
    for (const [title, kind, spec, said] of BROKEN) {
      const text = await refusal(kind, spec)
      t.match(text, 'ValidatingAdmissionPolicy', title)
      t.match(text, said, title)
    }
  })

  t.test('they let through what keeps to them, and everything in other namespaces', async (t) => {
    t.equal(await refusal('GitCommit', commit), '')
    const files = [
      { path: '{namespace}/{kind}-{name}.txt', content: 'a' },
      { path: '{namespace}/own.yaml', resourceRef: reference },
      { path: '{namespace}/named.yaml', resourceRef: { ...reference, namespace } },
      { path: `${namespace}/other.txt`, content: 'a' },
    ]
    t.equal(await refusal('GitCommit', { ...without('resourceRef', commit), files }), '')
    t.equal(await refusal('PullRequest', pull), '')
    t.equal(await refusal('PullRequest', { ...without('reviewers', pull), draft: true }), '')
    for (const [title, kind, spec] of BROKEN) t.equal(await refusal(kind, spec, elsewhere), '', title)
  })

  t.test('the quota of the documentation counts both kinds', async (t) => {
    const [, command = ''] = /^```sh\n(kubectl -n shop create quota [^]*?)^```$/m.exec(PAGE) ?? []
    const words = command.replaceAll('\\\n', ' ').replace('-n shop', `-n ${namespace}`).trim().split(/\s+/)
    const made = await plane.kubectl([...words.slice(1), '--dry-run=server', '-o', 'jsonpath={.spec.hard}'])
    t.same(JSON.parse(made.stdout), {
      'count/gitcommits.commitlet.dev': '200',
      'count/pullrequests.commitlet.dev': '50',
    })
  })
})
