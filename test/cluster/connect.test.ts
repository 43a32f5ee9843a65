import t from 'tap'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { Phase } from '../../functions/domain/resource/stored-status.ts'
import { allRows, UNSETTLED } from '../harness/rows.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import { installResources } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { serveKind } from '../harness/kinds.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import { ALLOWED, DENIED, DEVELOPER, recorder, SECRET } from './review-stage.ts'
import { definition, openAs, plainConfig, writeConfig } from './stage.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'
const CONFIG_MAPS = { plural: 'configmaps', namespaced: true }
const NAMESPACES = { plural: 'namespaces', namespaced: false }

t.test('an API server knows all rights unless it is not ready, or does not answer', async (t) => {
  for (const [status, knowsRights] of [
    [200, true],
    [403, true],
    [500, false],
    [503, false],
  ] as const)
    t.equal(
      await connectCluster(() => Promise.resolve({ status, text: '' })).knowsRights(),
      knowsRights,
      `${status}`,
    )
  t.equal(await connectCluster(() => Promise.reject(new Error('no'))).knowsRights(), false)
})

t.test('nor does it for some seconds after one of its authorisers could not be asked', async (t) => {
  const clock = { now: 0, elapsed: () => clock.now, wait: () => Promise.resolve() }
  const recorded = recorder(DENIED)
  const cluster = connectCluster(recorded.server, clock)
  async function knowsAfter(status: object): Promise<boolean> {
    recorded.status = status
    await cluster.reviewAccess(DEVELOPER, SECRET)
    clock.now += 1_000
    return cluster.knowsRights()
  }
  recorded.http = 200
  t.equal(await knowsAfter(DENIED), true)
  t.equal(
    await knowsAfter({ ...DENIED, evaluationError: 'Post "https://authoriser/": connection refused' }),
    false,
  )
  t.equal(await knowsAfter(DENIED), false, 'what was denied a second ago may be none')
  clock.now += 4_000
  t.equal(await knowsAfter(DENIED), true)
  t.equal(
    await knowsAfter({ ...ALLOWED, evaluationError: 'Post "https://authoriser/": connection refused' }),
    true,
  )
})

withControlPlane(t, async (t, plane) => {
  await installResources(plane)
  const cluster = connectCluster(openAs(plane.kubeconfig))
  const namespace = await plane.createNamespace()
  const apply = (object: object): Promise<unknown> =>
    plane.kubectl(['apply', '-n', namespace, '-f', '-'], { input: JSON.stringify(object) })

  /** A stored GitCommit as the function would have read it. */
  async function stored(name: string): Promise<Envelope> {
    await apply(gitCommit(name, REPOSITORY))
    return envelopeOf(await cluster.readResource({ kind: 'GitCommit', namespace, name }))
  }

  t.test('a resource is read as it is stored; where there is none, there is no result', async (t) => {
    const { metadata, status } = await stored('one')
    t.match(metadata, { name: 'one', namespace, generation: 1, uid: /^[0-9a-f-]{36}$/ })
    t.same(status, { observedGeneration: -1, phase: 'Pending' })
    t.equal(await cluster.readResource({ kind: 'GitCommit', namespace, name: 'none' }), undefined)
    t.equal(await cluster.readResource({ kind: 'PullRequest', namespace, name: 'one' }), undefined)
  })

  t.test('an object is read with the order of its keys and every digit', async (t) => {
    await serveKind(plane, definition('squids', 'Squid', 'Namespaced'))
    const object = `{"apiVersion":"test.example.com/v1","kind":"Squid","metadata":{"name":"ollie"},
      "spec":{"10":"ten","9":"nine","big":9007199254740993,"least":-9223372036854775808}}`
    await plane.kubectl(['create', '-n', namespace, '-f', '-'], { input: object })
    const text = await cluster.readObject(
      { apiVersion: 'test.example.com/v1', kind: 'Squid', name: 'ollie', namespace },
      { plural: 'squids', namespaced: true },
    )
    t.match(text, '"spec":{"10":"ten","9":"nine","big":9007199254740993,"least":-9223372036854775808}')
    await plane.kubectl(['delete', 'crd', 'squids.test.example.com'])
  })

  t.test('a cluster-scoped object is read without the namespace', async (t) => {
    const reference = { apiVersion: 'v1', kind: 'Namespace', name: namespace, namespace, path: 'x' }
    const text = await cluster.readObject(reference, NAMESPACES)
    t.match(JSON.parse(text), { kind: 'Namespace', metadata: { name: namespace } })
  })

  t.test('the refusal names the object that does not exist', async (t) => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', namespace, path: 'x' }
    await t.rejects(cluster.readObject(reference, CONFIG_MAPS), {
      reason: 'ReferenceNotFound',
      message: `There is no ConfigMap ${namespace}/none; create it, or fix its name in the spec.`,
    })
    await t.rejects(cluster.readObject({ ...reference, kind: 'Namespace' }, NAMESPACES), {
      message: 'There is no Namespace none; create it, or fix its name in the spec.',
    })
    const ghost = { ...reference, apiVersion: 'apps/v1', kind: 'Ghost' }
    await t.rejects(cluster.readObject(ghost, { plural: 'ghosts', namespaced: true }), {
      reason: 'ReferenceNotFound',
      message: `There is no Ghost ${namespace}/none; create it, or fix its name in the spec.`,
    })
    await t.rejects(cluster.readSecret(namespace, 'none'), {
      reason: 'ReferenceNotFound',
      message: `There is no Secret ${namespace}/none; create it, or fix its name in the spec.`,
    })
  })

  t.test('a Secret is read decoded, with its type and annotations', async (t) => {
    await apply({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/basic-auth',
      metadata: { name: 'basic', annotations: { 'commitlet.dev/allowed-paths': 'shop' } },
      data: { username: 'YW5u', password: '/+8=', constructor: 'eA==' },
    })
    const secret = await cluster.readSecret(namespace, 'basic')
    t.match(secret, { namespace, name: 'basic', type: 'kubernetes.io/basic-auth' })
    t.equal(secret.annotations['commitlet.dev/allowed-paths'], 'shop')
    t.same([...secret.data].map(([key, value]) => [key, Buffer.from(value).toString('hex')]).sort(), [
      ['constructor', '78'],
      ['password', 'ffef'],
      ['username', '616e6e'],
    ])
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bare' } })
    t.match(await cluster.readSecret(namespace, 'bare'), { type: 'Opaque', data: new Map() })
  })

  t.test('no name reaches another resource', async (t) => {
    await apply(configMap())
    const names = [
      '../configmaps/shop',
      '..%2Fconfigmaps%2Fshop',
      'basic/../basic',
      'basic?x=y',
      '..',
      '.',
      '',
    ]
    for (const name of names)
      await t.rejects(cluster.readSecret(namespace, name), { name: 'Failure' }, JSON.stringify(name))
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace, path: 'x' }
    for (const name of [
      '../secrets/basic',
      '..%2Fsecrets%2Fbasic',
      '%2e%2e/secrets/basic',
      'shop/../../secrets/basic',
    ])
      await t.rejects(
        cluster.readObject({ ...reference, name }, CONFIG_MAPS),
        { name: 'Failure' },
        JSON.stringify(name),
      )
    await t.rejects(cluster.readSecret(`${namespace}/secrets/basic/../..`, 'basic'), { name: 'Failure' })
  })

  t.test('an object other than the requested Secret is not used', async (t) => {
    const answers = [
      { kind: 'ConfigMap', metadata: { name: 'git', namespace } },
      { kind: 'Secret', metadata: { name: 'other', namespace } },
      { kind: 'Secret', metadata: { name: 'git', namespace: 'other' } },
      [],
    ]
    for (const answer of answers) {
      const lying = connectCluster(async () => ({ status: 200, text: JSON.stringify(answer) }))
      await t.rejects(lying.readSecret(namespace, 'git'), {
        reason: 'ReferenceForbidden',
        message: `The API server answered with something other than Secret ${namespace}/git; nothing was read.`,
      })
    }
  })

  t.test('a function without the right, or without a login, says so', async (t) => {
    const restricted = connectCluster(openAs(await plane.kubeconfigFor({ name: 'restricted' })))
    const config = plainConfig(plane.url, { token: 'nobody-knows-me' })
    const unknown = connectCluster(openAs(await writeConfig(t, config)))
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', namespace, path: 'x' }
    const mayNot = `may not read ConfigMap ${namespace}/shop; ask your Commitlet operator to grant it \`get\`.`
    const calls: readonly [string, (cluster: Cluster) => Promise<unknown>][] = [
      [`ConfigMap ${namespace}/shop`, (cluster) => cluster.readObject(reference, CONFIG_MAPS)],
      [`Secret ${namespace}/git`, (cluster) => cluster.readSecret(namespace, 'git')],
      [
        `GitCommit ${namespace}/one`,
        (cluster) => cluster.readResource({ kind: 'GitCommit', namespace, name: 'one' }),
      ],
    ]
    await t.rejects(restricted.readObject(reference, CONFIG_MAPS), {
      message: `Commitlet's service account ${mayNot}`,
      reason: 'ReferenceForbidden',
      retry: 'slow',
    })
    await t.rejects(restricted.readSecret(namespace, 'git'), {
      message: `may not read Secret ${namespace}/git; fix secretName in the spec if it is mistyped, otherwise ask`,
    })
    for (const [what, call] of calls) {
      await t.rejects(call(restricted), { reason: 'ReferenceForbidden', message: what }, what)
      const refused = await call(unknown).catch((error: unknown) => error)
      t.match(refused, { reason: 'ReferenceForbidden', retry: 'slow' }, what)
      t.match(refused, { message: "The API server does not accept Commitlet's own credentials" }, what)
    }
    const status = { observedGeneration: 1, phase: 'Succeeded' } as const
    await t.rejects(restricted.patchStatus(await stored('one'), status), {
      name: 'Failure',
      reason: 'ReferenceForbidden',
    })
  })

  t.test('lists and Events go through the same connection', async (t) => {
    const one = await stored('listed')
    const uids = async (phases?: readonly Phase[]): Promise<Set<string>> =>
      new Set((await allRows(cluster, 'GitCommit', phases)).map(({ ref }) => ref.uid))
    t.ok((await uids(UNSETTLED)).has(one.metadata.uid))
    await cluster.patchStatus(one, { observedGeneration: 1, phase: 'Failed' })
    t.notOk((await uids(UNSETTLED)).has(one.metadata.uid))
    t.ok((await uids()).has(one.metadata.uid))
    await cluster.recordEvent(one, { type: 'Normal', reason: 'Succeeded', message: 'Committed.' })
    await cluster.flushEvents()
    const events = await plane.kubectl(['get', 'events', '-n', namespace, '-o', 'name'])
    t.match(events.stdout, /event\/listed\.[0-9a-f]{16}/)
    t.same(await cluster.discover('v1', 'Secret'), { plural: 'secrets', namespaced: true })
  })
})
