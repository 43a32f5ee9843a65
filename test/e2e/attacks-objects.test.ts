import t from 'tap'
import { definition } from '../cluster/stage.ts'
import { extendReader } from '../harness/accounts.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { serveKind } from '../harness/kinds.ts'
import { gitCommit, install } from '../harness/installation.ts'
import { applyAs, grant, RULES, until } from '../harness/rights.ts'
import { aggregate, GROUP } from './aggregated-api.ts'
import { stageTenant, TENANT } from './tenant-stage.ts'

const PASSWORD = 'n0t-for-any-repository'

withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane, { webhookEnv: { SWEEP_INTERVAL: '1' } })
    const { git } = commitlet

    await extendReader(plane, GROUP, 'things')

    t.test('an aggregated API that answers with something else gets nothing committed', async (t) => {
      const aggregated = await aggregate(t, plane)
      const { team, repository } = await stageTenant(commitlet)
      const { namespace } = team
      const own = {
        apiVersion: `${GROUP}/v1`,
        kind: 'Thing',
        metadata: { name: 'it', namespace },
        spec: { size: 1 },
      }
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'it', namespace },
        data: { password: Buffer.from(PASSWORD).toString('base64') },
      }
      const resourceRef = { apiVersion: `${GROUP}/v1`, kind: 'Thing', name: 'it', path: 'it.yaml' }
      const answers = [
        ['a Secret', secret, /contains a Secret, and a Secret is never committed/],
        [
          'a list of Secrets',
          { apiVersion: 'v1', kind: 'SecretList', items: [secret] },
          /contains a Secret, and a Secret is never committed/,
        ],
        ['another kind', { ...own, kind: 'Other' }, /its kind is not "Thing"/],
        ['another group', { ...own, apiVersion: 'v1' }, /its apiVersion is not/],
        [
          'another name',
          { ...own, metadata: { ...own.metadata, name: 'other' } },
          /its metadata.name is not "it"/,
        ],
        [
          'another namespace',
          { ...own, metadata: { ...own.metadata, namespace: 'kube-system' } },
          /its metadata.namespace is not/,
        ],
        ['no namespace', { ...own, metadata: { name: 'it' } }, /its metadata.namespace is not/],
      ] as const
      for (const [index, [title, answer, message]] of answers.entries()) {
        aggregated.answer = answer
        const { code, stderr } = await applyAs(
          team,
          TENANT,
          gitCommit(`c${index}`, repository.url, { resourceRef }),
        )
        t.equal(code, 0, stderr)
        t.match(readyOf(await team.settled(`c${index}`)), { reason: 'ReferenceForbidden', message }, title)
      }
      t.equal(git.requests.length, 0, 'nothing was sent')
      aggregated.answer = own
      await applyAs(team, TENANT, gitCommit('own', repository.url, { resourceRef }))
      t.match(readyOf(await team.settled('own')), { reason: 'Succeeded' })
    })

    t.test('an aggregated API, whose answers say that it is 2038, puts nothing off', async (t) => {
      const aggregated = await aggregate(t, plane)
      aggregated.date = 'Fri, 01 Jan 2038 00:00:00 GMT'
      aggregated.answer = { status: 'none' }
      const { team, repository } = await stageTenant(commitlet)
      const resourceRef = { apiVersion: `${GROUP}/v1`, kind: 'Thing', name: 'it' }
      const files = Array.from({ length: 20 }, (_, i) => ({
        path: `${i}.yaml`,
        resourceRef: { ...resourceRef, name: `it-${i}` },
      }))
      const spec = { resourceRef: undefined, files }
      const { code, stderr } = await applyAs(team, TENANT, gitCommit('shop', repository.url, spec))
      t.equal(code, 0, stderr)
      const { lastTransitionTime } = readyOf(await team.settled('shop'))
      t.ok(Date.parse(lastTransitionTime) < Date.now() + 60_000, lastTransitionTime)
    })

    t.test('a kind is reviewed by the resource that serves it, not by what its name suggests', async (t) => {
      await serveKind(plane, definition('mice', 'Mouse', 'Namespaced'))
      await extendReader(plane, 'test.example.com', 'mice')
      const team = await commitlet.createTeam()
      const repository = await git.createRepository(team.namespace)
      const rule = (plural: string) => ({
        apiGroups: ['test.example.com'],
        resources: [plural],
        verbs: ['get'],
      })
      const others = ['mouses', 'mouse', 'Mouse', 'mice/status'].map(rule)
      await team.apply(
        { apiVersion: 'test.example.com/v1', kind: 'Mouse', metadata: { name: 'shop' } },
        ...grant('user', 'ops', [RULES.gitCommits, RULES.readSecrets, ...others]),
      )
      const resourceRef = { apiVersion: 'test.example.com/v1', kind: 'Mouse', name: 'shop', path: 'it.yaml' }
      const apply = () => applyAs(team, 'ops', gitCommit('shop', repository.url, { resourceRef }))
      await until(
        'denial',
        apply,
        /spec\.resourceRef is the Mouse shop in the namespace \S+, which ops may not `get`/,
      )
      await team.apply(...grant('mice', 'ops', [rule('mice')]))
      await until('admission', apply, /created/)
      t.match(readyOf(await team.settled('shop')), { reason: 'Succeeded' })
    })

    t.test("a kind that comes back under another scope is not read by the first one's rights", async (t) => {
      const { team, repository } = await stageTenant(commitlet)
      const kind = { apiVersion: 'test.example.com/v1', kind: 'Turncoat' }
      const resourceRef = { ...kind, name: 'shop', path: 'it.yaml' }
      await serveKind(plane, definition('turncoats', 'Turncoat', 'Namespaced'))
      await extendReader(plane, 'test.example.com', 'turncoats')
      await team.apply({ ...kind, metadata: { name: 'shop' } })
      await applyAs(team, TENANT, gitCommit('before', repository.url, { resourceRef }))
      t.match(readyOf(await team.settled('before')), { reason: 'Succeeded' })
      await plane.kubectl(['delete', 'crd', 'turncoats.test.example.com'])
      await serveKind(plane, definition('turncoats', 'Turncoat', 'Cluster'))
      const input = JSON.stringify({ ...kind, metadata: { name: 'shop' }, spec: { of: 'all' } })
      // Past kubectl's own discovery cache, which knows the kind as it was.
      const path = '/apis/test.example.com/v1/turncoats'
      const create = () => plane.kubectl(['create', '--raw', path, '-f', '-'], { input, allowFailure: true })
      await until('cluster-scoped kind', create, /"uid"|AlreadyExists/)
      const request = ['annotate', 'gitcommit', 'before', 'commitlet.dev/requested-at=now', `--as=${TENANT}`]
      const { code, stderr } = await team.kubectl(request, { allowFailure: true })
      const refused = /spec\.resourceRef\.kind:? is Turncoat, which is cluster-scoped/
      if (code !== 0) t.match(stderr, refused, 'the webhook has looked the kind up again')
      else {
        await team.waitFor('before', 'jsonpath={.status.lastHandledRequestedAt}=now', '30s')
        await team.waitFor('before', 'jsonpath={.status.phase}=Retrying', '30s')
        const message = `There is no Turncoat ${team.namespace}/shop; create it, or fix its name in the spec.`
        t.match(readyOf(await team.get('before')), { reason: 'ReferenceNotFound', message })
        await commitlet.function.stop()
        await commitlet.startFunction()
        const asked = readyOf(await team.settled('before'))
        t.match(
          asked,
          { reason: 'ReferenceForbidden', message: refused },
          'a function that knows the new scope',
        )
      }
      const log = await repository.git('log', '-p', '--format=%B', '--all')
      t.notMatch(log, 'of: all')
    })

    t.test("a service account's token is no credential for a Git host", async (t) => {
      const { team, repository } = await stageTenant(commitlet)
      await team.apply(
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          type: 'kubernetes.io/service-account-token',
          metadata: { name: 'robot', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
          stringData: { token: 'the-token-of-robot' },
        },
      )
      await team.kubectl(['create', 'role', 'robot', '--verb=get', '--resource=secrets'])
      const account = '--serviceaccount=commitlet-system:commitlet-function'
      await team.kubectl(['create', 'rolebinding', 'robot', '--role=robot', account])
      const spec = { credentials: { secretName: 'robot', tokenKey: 'token' } }
      await applyAs(team, TENANT, gitCommit('shop', repository.url, spec))
      await team.waitFor('shop', 'condition=Stalled', '30s')
      t.match(readyOf(await team.get('shop')), {
        reason: 'CredentialsInvalid',
        message: 'is of type "kubernetes.io/service-account-token"',
      })
      t.equal(git.requests.filter((request) => JSON.stringify(request).includes(team.namespace)).length, 0)
    })
  },
  { own: true },
)
