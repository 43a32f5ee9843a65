import t from 'tap'
import type { FailureReason } from '../../../functions/domain/reasons.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { configMap, gitCommit, TOKEN, type Installation, type Team } from '../../harness/installation.ts'
import { readyFor } from '../../harness/conditions.ts'
import { grant, reviewed, RULES } from '../../harness/rights.ts'
import { withCommitlet } from '../../harness/shared-installation.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { waitFor } from '../../harness/wait.ts'
import { commitlet, fileOf, stepsIn } from '../stage.ts'

// Each reason that a set-up can be wrong for: `check` names the step, the reason, and what to do. On a real API server and a real Git
// server; what the API of a host tells is in check-files.test.ts.
const KEY = makeKey('-t', 'ed25519').privateKey
const USER = 'cli-ada'

/** What a broken set-up is made of. */
interface Place {
  readonly repository: GitRepository
  readonly team: Team
  readonly commitlet: Installation
}

interface Broken {
  readonly title: string
  readonly step: string
  readonly reason: FailureReason
  /** What the sentence tells. */
  readonly says: RegExp
  /** Other fields of the spec of a good GitCommit. */
  readonly spec?: object | ((place: Place) => object)
  /** Breaks what is around it. */
  readonly before?: (place: Place) => Promise<unknown>
  readonly env?: Readonly<Record<string, string>>
  /** As this user instead of the administrator. */
  readonly as?: string
}

const secret = (name: string, stringData: object, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name },
  stringData,
  ...more,
})
const named = (secretName: string): object => ({ credentials: { secretName, tokenKey: 'token' } })

const BROKEN: readonly Broken[] = [
  {
    title: 'a signing key that is a public key',
    spec: { signing: { secretName: 'signing' } },
    before: ({ team }) => team.apply(secret('signing', { 'ssh-privatekey': 'ssh-ed25519 AAAAC3Nza' })),
    step: 'signing',
    reason: 'CredentialsInvalid',
    says: /holds a public key/,
  },
  {
    title: 'a signing key of another format',
    spec: { signing: { secretName: 'ssh-key', format: 'openpgp', privateKeyKey: 'key' } },
    before: ({ team }) => team.apply(secret('ssh-key', { key: 'ssh-ed25519 AAAAC3Nza' })),
    step: 'signing',
    reason: 'CredentialsInvalid',
    says: /does not hold an OpenPGP private key/,
  },
  {
    title: 'a path outside of the repository',
    spec: { resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: '../shop.yaml' } },
    step: 'rules',
    reason: 'InvalidSpec',
    says: /spec\.resourceRef\.path/,
  },
  {
    title: 'a GitHub App on a host that is not known',
    spec: { credentials: { secretName: 'git', appIDKey: 'id', privateKeyKey: 'key' } },
    step: 'rules',
    reason: 'InvalidSpec',
    says: /appIDKey needs the API/,
  },
  {
    title: 'a repository that the operator does not allow',
    env: { ALLOWED_REPOSITORIES: 'github.com/acme' },
    step: 'rules',
    reason: 'AddressForbidden',
    says: /ALLOWED_REPOSITORIES/,
  },
  {
    title: 'a requester without the right to the object',
    as: 'cli-guest',
    step: 'rights',
    reason: 'ReferenceForbidden',
    says: /cli-guest may `get`/,
  },
  {
    title: 'a function without the right to the Secret',
    before: ({ team }) => team.apply(secret('private', { token: TOKEN })),
    spec: named('private'),
    step: 'function',
    reason: 'ReferenceForbidden',
    says: /commitlet-function\) may not `get` the Secret .*\/private; grant it/,
  },
  {
    title: 'an object that is not there',
    spec: { resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shpo', path: 'shop.yaml' } },
    step: 'reference',
    reason: 'ReferenceNotFound',
    says: /There is no ConfigMap .*shpo/,
  },
  {
    title: 'a Secret that is not there',
    spec: named('missing'),
    step: 'Secret',
    reason: 'ReferenceNotFound',
    says: /There is no Secret .*missing/,
  },
  {
    title: 'a Secret without the key',
    before: ({ team }) => team.apply(secret('keyless', { tokn: TOKEN })),
    spec: named('keyless'),
    step: 'Secret',
    reason: 'CredentialsInvalid',
    says: /"?token"?/,
  },
  {
    title: 'a Secret for other repositories',
    before: ({ team }) =>
      team.apply(
        secret(
          'bound',
          { token: TOKEN },
          {
            metadata: {
              name: 'bound',
              annotations: { 'commitlet.dev/allowed-repositories': 'github.com/acme' },
            },
          },
        ),
      ),
    spec: named('bound'),
    step: 'Secret',
    reason: 'ReferenceForbidden',
    says: /does not allow/,
  },
  {
    title: 'a host that DNS does not know',
    spec: { repository: 'https://git.commitlet.invalid/acme/shop.git' },
    step: 'DNS',
    reason: 'NetworkError',
    says: /git\.commitlet\.invalid cannot be reached/,
  },
  {
    title: 'an address that Commitlet may not call',
    spec: { repository: 'https://169.254.169.254/acme/shop.git' },
    step: 'address',
    reason: 'AddressForbidden',
    says: /may not connect/,
  },
  {
    title: 'a certificate of an unknown authority',
    env: { CA_FILE: '' },
    step: 'trust',
    reason: 'TLSUntrusted',
    says: /certificate/,
  },
  {
    title: 'no host key for an SSH address',
    before: ({ team }) =>
      team.apply(secret('ssh', { 'ssh-privatekey': KEY }, { type: 'kubernetes.io/ssh-auth' })),
    spec: { repository: 'git@localhost:acme/shop.git', credentials: { secretName: 'ssh' } },
    step: 'trust',
    reason: 'HostKeyUnknown',
    says: /host key/,
  },
  {
    title: 'a token that the host does not accept',
    before: ({ team }) => team.apply(secret('old', { token: 'tkn-old' })),
    spec: named('old'),
    step: 'log-in',
    reason: 'AuthenticationFailed',
    says: /Secret|token/,
  },
  {
    title: 'a repository that is not there',
    spec: ({ commitlet }) => ({ repository: `${commitlet.git.url}/acme/none.git` }),
    step: 'repository',
    reason: 'RepositoryNotFound',
    says: /does not exist|not visible/,
  },
  {
    title: 'a user who may only read',
    async before({ repository, commitlet }) {
      commitlet.git.setRight({ password: TOKEN }, repository.name, 'read')
    },
    step: 'push',
    reason: 'PermissionDenied',
    says: /write/,
  },
  {
    title: 'a file where a folder has to be',
    before: ({ repository }) => repository.commit('main', { shop: 'a file' }),
    step: 'path',
    reason: 'PathConflict',
    says: /choose another path/,
  },
]

withCommitlet(t, async (t, installed) => {
  const { plane, git } = installed
  const team = await installed.createTeam({
    secrets: ['git', 'keyless', 'bound', 'old', 'ssh'],
    developers: [USER],
  })
  await team.apply(configMap())
  const kubeconfigs = new Map([[undefined as string | undefined, plane.kubeconfig]])
  for (const name of [USER, 'cli-guest']) kubeconfigs.set(name, await plane.kubeconfigFor({ name }))
  const envOf = (user?: string) => ({ KUBECONFIG: kubeconfigs.get(user) ?? '', CA_FILE: git.caFile })
  let count = 0
  const create = (): Promise<GitRepository> => git.createRepository(`cli/check-${team.namespace}-${++count}`)

  for (const { title, step, reason, says, spec, before, env, as } of BROKEN)
    await t.test(title, async (t) => {
      const repository = await create()
      const place = { repository, team, commitlet: installed }
      await before?.(place)
      const file = await fileOf(
        t,
        gitCommit('shop', repository.url, typeof spec === 'function' ? spec(place) : spec),
      )
      const words = ['check', '-f', file, '-n', team.namespace, '-o', 'json']
      const ended = await commitlet(words, { env: { ...envOf(as), ...env } })
      t.equal(ended.code, 1, ended.stderr)
      const found = stepsIn(ended)[step]
      t.match(found, { state: 'wrong', reason, text: says }, ended.stdout)
      t.notMatch(ended.stdout, TOKEN)
    })

  await t.test('a good one, with the rights of its requester', async (t) => {
    const repository = await create()
    const file = await fileOf(t, gitCommit('shop', repository.url))
    const words = ['check', '-f', file, '-n', team.namespace]
    const ended = await commitlet(words, { env: envOf(USER) })
    t.equal(ended.code, 0, ended.stdout)
    t.match(ended.stdout, /✓ rights +cli-ada has every right/)
    t.match(ended.stdout, /– function +You may not create subjectaccessreviews/)
    t.match(ended.stdout, /✓ push /)
    t.match(ended.stdout, /Seen as cli-ada from this machine/)
    t.equal((await repository.log('main')).length, 1, 'nothing was written')
  })

  await t.test('one of the cluster is looked at with the rights of its stamp', async (t) => {
    const repository = await create()
    await team.applyAs(USER, gitCommit('stored', repository.url))
    await team.settled('stored')
    const words = ['check', 'stored', '-n', team.namespace, '-o', 'json']
    const ended = await commitlet(words, { env: envOf() })
    t.equal(ended.code, 0, ended.stdout + ended.stderr)
    const steps = stepsIn(ended)
    t.match(steps['requester'], { state: 'good', text: /cli-ada has asked for it/ })
    t.match(steps['function'], { state: 'good' })
    t.match(steps['path'], { state: 'good', text: /holds all of it already/ })
  })

  await t.test('who may `use` a Secret and not `get` it learns what stays unseen', async (t) => {
    const repository = await create()
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['git'], verbs: ['use'] },
    ]
    const rights = `/apis/rbac.authorization.k8s.io/v1/namespaces/${team.namespace}`
    await plane.api.need('POST', `${rights}/roles`, { metadata: { name: 'users' }, rules })
    await plane.api.need('POST', `${rights}/rolebindings`, {
      metadata: { name: 'users' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'users' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'cli-user' }],
    })
    const kubeconfig = await plane.kubeconfigFor({ name: 'cli-user' })
    const file = await fileOf(t, gitCommit('shop', repository.url))
    const words = ['check', '-f', file, '-n', team.namespace, '-o', 'json']
    const ended = await commitlet(words, { env: { KUBECONFIG: kubeconfig, CA_FILE: git.caFile } })
    t.equal(ended.code, 3, ended.stdout + ended.stderr)
    t.match(stepsIn(ended)['Secret'], { state: 'unseen', text: /You may not read this yourself/ })
  })

  await t.test('a Secret goes nowhere for a requester whose rights could not be reviewed', async (t) => {
    const repository = await create()
    const rules = [RULES.gitCommits, RULES.readConfigMaps, { ...RULES.useSecrets, resourceNames: ['git'] }]
    await team.apply(...grant('borrower', 'cli-borrower', rules))
    const right = { verb: 'use', resource: 'secrets', namespace: team.namespace, name: 'git' }
    await waitFor('right', async () => (await reviewed(plane, 'cli-borrower', right)) || undefined, 30_000)
    await team.applyAs('cli-borrower', gitCommit('borrowed', repository.url))
    await readyFor(team, 'borrowed', 'ReferenceForbidden')
    const env = envOf(USER)
    const checked = await commitlet(['check', 'borrowed', '-n', team.namespace, '-o', 'json'], { env })
    t.equal(checked.code, 3, checked.stdout + checked.stderr)
    t.match(stepsIn(checked), {
      rights: { state: 'unseen', text: /the rights of cli-borrower were not looked at/ },
      Secret: { state: 'unseen', text: /its values are sent nowhere/ },
    })
    const rendered = await commitlet(['render', 'borrowed', '--diff', '-n', team.namespace], { env })
    t.equal(rendered.code, 3, rendered.stdout)
    t.match(rendered.stderr, /its values are sent nowhere/)
    const seen = git.requests.filter((request) => request.repository === repository.name)
    t.strictSame(seen, [])
    const annotations = { 'commitlet.dev/allowed-repositories': new URL(repository.url).host }
    await team.apply(secret('git', { token: TOKEN }, { metadata: { name: 'git', annotations } }))
    const bound = await commitlet(['check', 'borrowed', '-n', team.namespace, '-o', 'json'], { env })
    t.match(stepsIn(bound)['push'], { state: 'good' }, 'where its annotation says, it goes whoever asks')
  })

  await t.test("a Secret goes nowhere for what is being deleted, whose stamp may be anybody's", async (t) => {
    const repository = await create()
    const rules = [RULES.gitCommits, RULES.readConfigMaps, { ...RULES.useSecrets, resourceNames: ['shared'] }]
    await team.apply(secret('shared', { token: TOKEN }), ...grant('leaver', 'cli-leaver', rules))
    const right = { verb: 'use', resource: 'secrets', namespace: team.namespace, name: 'shared' }
    await waitFor('right', async () => (await reviewed(plane, 'cli-leaver', right)) || undefined, 30_000)
    const credentials = { secretName: 'shared', tokenKey: 'token' }
    const left = gitCommit('left', repository.url, { credentials })
    const metadata = { name: 'left', finalizers: ['test.example.com/held'] }
    await team.applyAs('cli-leaver', { ...left, metadata })
    const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits/left`
    const asLeaver = { 'impersonate-user': 'cli-leaver' }
    await plane.api.ask('DELETE', path, undefined, asLeaver)
    const deleted = await team.get('left')
    const annotations = {
      'commitlet.dev/requested-by': 'admin',
      'commitlet.dev/requester': '{"username":"admin","groups":["system:masters"]}',
    }
    const forged = { ...deleted, metadata: { ...deleted.metadata, annotations } }
    const { status } = await plane.api.ask('PUT', path, forged, asLeaver)
    t.equal(status, 200, 'no webhook is asked about what is being deleted')
    const env = envOf()
    const checked = await commitlet(['check', 'left', '-n', team.namespace, '-o', 'json'], { env })
    const rendered = await commitlet(['render', 'left', '--diff', '-n', team.namespace], { env })
    const seen = git.requests.filter((request) => request.repository === repository.name)
    t.strictSame(seen, [])
    t.equal(checked.code, 1, checked.stdout + checked.stderr)
    t.match(stepsIn(checked), { requester: { state: 'wrong', text: /being deleted/ } })
    t.equal(rendered.code, 1, rendered.stdout)
    t.match(rendered.stderr, /being deleted/)
    const explained = await commitlet(['explain', 'left', '-n', team.namespace], { env })
    t.match(explained.stdout, /being deleted/)
    await plane.api.ask('PUT', path, {
      ...(await team.get('left')),
      metadata: { ...deleted.metadata, finalizers: [] },
    })
  })

  await t.test('a file does not lead out of the namespace that was named', async (t) => {
    const repository = await create()
    const elsewhere = { metadata: { name: 'shop', namespace: 'payments' } }
    const file = await fileOf(t, { ...gitCommit('shop', repository.url), ...elsewhere })
    for (const command of ['check', 'render']) {
      const ended = await commitlet([command, '-f', file, '-n', team.namespace], { env: envOf() })
      t.equal(ended.code, 2, ended.stdout)
      t.match(ended.stderr, `GitCommit shop is in the namespace payments, and not in ${team.namespace}`)
    }
    const unnamed = await commitlet(['check', '-f', file], { env: envOf() })
    t.match(unnamed.stdout, /^GitCommit payments\/shop /, 'as with kubectl')
  })

  await t.test('Secrets by themselves, and what is not there', async (t) => {
    const check = (...words: readonly string[]) =>
      commitlet(['check', ...words, '-n', team.namespace, '-o', 'json'], { env: envOf() })
    const good = await check('secret/git')
    t.equal(good.code, 0, good.stdout)
    t.match(stepsIn(good), {
      HTTPS: { state: 'good' },
      function: { state: 'good' },
      repositories: { state: 'good' },
    })
    const app = { 'app-id': '4711', 'private-key': 'none' }
    const stringData = { ...app, 'private-key': makeKey('-t', 'rsa', '-b', '2048').privateKey }
    const [sound, broken] = [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'app' }, stringData },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'broken' }, stringData: app },
    ]
    await team.apply(sound, broken)
    t.match(stepsIn(await check('secret/app'))['GitHub App'], { state: 'good' })
    t.match(stepsIn(await check('secret/broken'))['GitHub App'], {
      state: 'wrong',
      text: /does not hold a private key/,
    })
    const none = await check('secret/none')
    t.equal(none.code, 1)
    t.match(stepsIn(none)['read'], { reason: 'ReferenceNotFound' })
    const guest = ['check', 'secret/git', '-n', team.namespace, '-o', 'json']
    const refused = await commitlet(guest, { env: envOf('cli-guest') })
    t.equal(refused.code, 3)
    t.match(stepsIn(refused)['read'], { state: 'unseen', text: /You may not read Secret/ })
    t.equal((await check('gitcommit', 'none')).code, 1)
    t.equal((await check('ingress/none')).code, 2)
  })
})
