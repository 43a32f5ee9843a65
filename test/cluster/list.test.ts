import t from 'tap'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import type { ListedResource } from '../../functions/cluster/cluster.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { FOLLOWERS } from '../../functions/cluster/list.ts'
import type { Phase } from '../../functions/domain/resource/stored-status.ts'
import { installResources } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit } from '../harness/installation.ts'
import { allRows, UNSETTLED } from '../harness/rows.ts'
import { waitFor } from '../harness/wait.ts'
import { openAs } from './stage.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'
/** A word that occurs in the spec only. */
const SPEC = 'Of-the-spec-alone'
/** One more than a page holds. */
const MANY = 51

function collect(server: ApiServer, phases?: readonly Phase[]): Promise<ListedResource[]> {
  return allRows(connectCluster(server), 'GitCommit', phases)
}

const COLUMNS = ['Ready', 'Next attempt', 'Observed', 'Handled'].map((name) => ({ name }))
const METADATA = { name: 'a', namespace: 'shop', uid: 'u', generation: 2 }

function row(cells: readonly unknown[], metadata: object = METADATA): object {
  return { cells, object: { kind: 'PartialObjectMetadata', metadata } }
}

function table(rows: readonly unknown[], next?: string): string {
  return JSON.stringify({ kind: 'Table', metadata: { continue: next }, columnDefinitions: COLUMNS, rows })
}

t.test('a row shows whether a resource is due', async (t) => {
  const rows = [
    row(['True', '2030-01-01T00:00:00Z', 1, 'yesterday']),
    row(['', null, null, null], { ...METADATA, annotations: { 'commitlet.dev/requested-at': 'now' } }),
    row(['', '', '1', ''], {
      ...METADATA,
      annotations: { 'commitlet.dev/requested-at': '' },
      deletionTimestamp: '2030-01-01T00:00:00Z',
    }),
  ]
  const server: ApiServer = async () => ({ status: 200, text: table(rows) })
  const ref = { kind: 'GitCommit', namespace: 'shop', name: 'a', uid: 'u', generation: 2 }
  const none = {
    requestedAt: undefined,
    lastHandledRequestedAt: undefined,
    nextAttemptTime: undefined,
    reason: undefined,
    weight: 1,
  }
  t.same(await collect(server), [
    {
      ...none,
      ref,
      deleting: false,
      observedGeneration: 1,
      lastHandledRequestedAt: 'yesterday',
      nextAttemptTime: '2030-01-01T00:00:00Z',
    },
    { ...none, ref, deleting: false, observedGeneration: -1, requestedAt: 'now' },
    { ...none, ref, deleting: true, observedGeneration: -1 },
  ])
})

t.test('a page that is too large is requested again in halves, and no resource is left out', async (t) => {
  const limits: number[] = []
  const server: ApiServer = async ({ path }) => {
    const query = new URL(path, 'https://localhost').searchParams
    const limit = Number(query.get('limit'))
    limits.push(limit)
    if (limit > 15) throw new Failure('NotSupported', 'The answer is too large.')
    const first = query.get('continue') === null
    return { status: 200, text: table([row([])], first ? 'more' : undefined) }
  }
  t.equal((await collect(server)).length, 2)
  t.same(limits, [50, 25, 13, 26, 13])
  const tooLarge: ApiServer = () => Promise.reject(new Failure('NotSupported', 'The answer is too large.'))
  await t.rejects(collect(tooLarge), new Failure('NotSupported', 'The answer is too large.'))
})

t.test('rows that name no resource are skipped', async (t) => {
  const incomplete = Object.keys(METADATA).map((key) => row([], { ...METADATA, [key]: undefined }))
  const rows = [...incomplete, null, 7, {}, { cells: {}, object: [] }]
  for (const text of [table(rows), '{}', '[]', 'null', '{"rows":{}}'])
    t.same(await collect(async () => ({ status: 200, text })), [])
})

t.test('a list whose continue token has expired goes on with the one that comes instead', async (t) => {
  const asked: (string | null)[] = []
  const expired = { kind: 'Status', metadata: { continue: 'second' }, reason: 'Expired', code: 410 }
  const server: ApiServer = async ({ path }) => {
    const token = new URL(path, 'https://localhost').searchParams.get('continue')
    asked.push(token)
    if (token === 'first') return { status: 410, text: JSON.stringify(expired) }
    return { status: 200, text: table([row([])], token === null ? 'first' : undefined) }
  }
  t.equal((await collect(server)).length, 2)
  t.same(asked, [null, 'first', 'second'])
  const without: ApiServer = async () => ({ status: 410, text: '{"kind":"Status"}' })
  await t.rejects(collect(without), { reason: 'ProviderUnavailable', message: 'list of gitcommits' })
})

t.test('a query narrows the list to a phase and a namespace, or leaves namespaces out', async (t) => {
  const asked: URL[] = []
  const cluster = connectCluster(async ({ path }) => {
    asked.push(new URL(path, 'https://localhost'))
    return { status: 200, text: table([]) }
  })
  await cluster.listPage('GitCommit', { phase: 'Pending', except: ['a', 'b'] })
  await cluster.listPage('PullRequest', { namespace: 'a/../b', next: 'more' })
  t.same(
    asked.map(({ pathname }) => pathname),
    ['/apis/commitlet.dev/v1/gitcommits', '/apis/commitlet.dev/v1/namespaces/a%2F..%2Fb/pullrequests'],
  )
  t.same(
    asked.map(({ searchParams }) => Object.fromEntries(searchParams)),
    [
      { limit: '50', fieldSelector: 'status.phase=Pending,metadata.namespace!=a,metadata.namespace!=b' },
      { limit: '50', continue: 'more' },
    ],
  )
})

t.test(
  'what is large in one namespace makes no page of another one shorter, nor of another sort',
  async (t) => {
    const asked: string[] = []
    const cluster = connectCluster(async ({ path, most = Infinity }) => {
      const { pathname, searchParams } = new URL(path, 'https://localhost')
      const limit = Number(searchParams.get('limit'))
      asked.push(`${pathname.includes('/large/') ? 'large' : 'small'} ${limit}`)
      const isLarge = pathname.includes('/large/') && searchParams.get('fieldSelector') === FOLLOWERS
      if (isLarge && limit * 1024 * 1024 > most) throw new Failure('NotSupported', 'too much')
      return { status: 200, text: table([]) }
    })
    for (let times = 0; times < 2; times += 1)
      for (const namespace of ['large', 'small'])
        await cluster.listPage('GitCommit', { namespace, follows: true, first: 8 })
    await cluster.listPage('GitCommit', { namespace: 'large', phase: 'Retrying', first: 8 })
    t.same(asked, ['large 8', 'large 4', 'small 8', 'large 8', 'large 4', 'small 16', 'large 8'])
  },
)

t.test('a refusal names the list', async (t) => {
  const cluster = connectCluster(async () => ({ status: 403, text: '' }))
  await t.rejects(cluster.listPage('PullRequest', {}), {
    reason: 'ReferenceForbidden',
    message: 'list of pullrequests',
  })
})

t.test('more than some hundred that are not settled are not read at once', async (t) => {
  const cluster = connectCluster(({ most = Infinity }) => {
    const failure = new Failure('NotSupported', 'The API server answered with too much.')
    return most < 2 * 1024 * 1024
      ? Promise.reject(failure)
      : Promise.resolve({ status: 200, text: table([]) })
  })
  t.equal(await cluster.listUnsettled('GitCommit'), undefined)
  const failing = connectCluster(() => Promise.resolve({ status: 429, text: '{}' }))
  await t.rejects(failing.listUnsettled('GitCommit'), { name: 'Failure', reason: 'RateLimited' })
})

withControlPlane(t, async (t, plane) => {
  await installResources(plane)
  const server = openAs(plane.kubeconfig)
  const namespace = await plane.createNamespace()
  const own = (listed: readonly ListedResource[]): ListedResource[] =>
    listed.filter(({ ref }) => ref.namespace === namespace)
  const creations = Array.from({ length: MANY }, (_, index) => ({
    method: 'POST' as const,
    path: `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`,
    body: gitCommit(`many-${index}`, REPOSITORY, { message: SPEC }),
  }))
  while (creations.length > 0) await Promise.all(creations.splice(0, 32).map(server))

  t.test('a list of more than a page is complete, each resource once, in pages without a spec', async (t) => {
    let pages = 0
    let specs = 0
    const watched: ApiServer = async (call) => {
      const answer = await server(call)
      pages += 1
      if (answer.text.includes(SPEC)) specs += 1
      return answer
    }
    const listed = own(await collect(watched))
    t.equal(new Set(listed.map(({ ref }) => ref.uid)).size, MANY)
    t.equal(listed.length, MANY)
    t.ok(pages >= 2, `${pages} pages`)
    t.equal(specs, 0)
  })

  t.test('with phases, only resources in one of them are listed, with their status', async (t) => {
    const cluster = connectCluster(server)
    const phases: readonly [string, Phase][] = [
      ['many-1', 'Succeeded'],
      ['many-2', 'Failed'],
      ['many-3', 'Retrying'],
      ['many-4', 'Progressing'],
    ]
    for (const [name, phase] of phases) {
      const read = envelopeOf(await cluster.readResource({ kind: 'GitCommit', namespace, name }))
      await cluster.patchStatus(read, {
        observedGeneration: 1,
        phase,
        lastHandledRequestedAt: 'yesterday',
        nextAttemptTime: '2030-01-01T00:00:00Z',
      })
    }
    const unsettled = own(await collect(server, UNSETTLED))
    const names = new Set(unsettled.map(({ ref }) => ref.name))
    t.same([unsettled.length, names.size], [MANY - 2, MANY - 2])
    t.notOk(names.has('many-1') || names.has('many-2'))
    const retrying = own(await collect(server, ['Retrying']))
    t.match(retrying, [
      {
        ref: { name: 'many-3', generation: 1 },
        deleting: false,
        observedGeneration: 1,
        lastHandledRequestedAt: 'yesterday',
        nextAttemptTime: '2030-01-01T00:00:00Z',
      },
    ])
    const fresh = unsettled.find(({ ref }) => ref.name === 'many-0')
    t.match(fresh, { observedGeneration: -1, lastHandledRequestedAt: undefined, nextAttemptTime: undefined })
  })

  t.test('what is not settled is read at once, from what the API server remembers', async (t) => {
    const calls: string[] = []
    const cluster = connectCluster((call) => {
      calls.push(call.path)
      return server(call)
    })
    const paged = own(await collect(server, UNSETTLED)).map(({ ref }) => ref.name)
    // What it remembers may be a little behind.
    const names = await waitFor(
      'all of them',
      async () => {
        const rows = own((await cluster.listUnsettled('GitCommit')) ?? [])
        return rows.length === paged.length ? rows.map(({ ref }) => ref.name) : undefined
      },
      30_000,
    )
    t.same(names.toSorted(), paged.toSorted())
    t.match(calls[0], /resourceVersion=0/)
  })

  t.test('a changed spec, a request and a deletion show in the list', async (t) => {
    const kubectl = (...args: string[]): Promise<unknown> => plane.kubectl(['-n', namespace, ...args])
    const finalizer = '{"metadata":{"finalizers":["test.example.com/hold"]}}'
    await kubectl('patch', 'gitcommit', 'many-1', '--type=merge', '-p', '{"spec":{"message":"Another"}}')
    await kubectl('annotate', 'gitcommit', 'many-2', 'commitlet.dev/requested-at=now')
    await kubectl('patch', 'gitcommit', 'many-5', '--type=merge', '-p', finalizer)
    await kubectl('delete', 'gitcommit', 'many-5', '--wait=false')
    const listed = own(await collect(server))
    const named = (name: string): ListedResource | undefined => listed.find(({ ref }) => ref.name === name)
    t.match(named('many-1'), { ref: { generation: 2 }, observedGeneration: 1 })
    t.match(named('many-2'), { requestedAt: 'now', lastHandledRequestedAt: 'yesterday' })
    t.match(named('many-5'), { deleting: true })
    await kubectl('patch', 'gitcommit', 'many-5', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  })

  t.test('a namespace is left out, or listed alone', async (t) => {
    const cluster = connectCluster(server)
    const { rows } = await cluster.listPage('GitCommit', { namespace, phase: 'Pending' })
    t.ok(rows.length > 0)
    t.ok(rows.every(({ ref }) => ref.namespace === namespace))
    const others = await cluster.listPage('GitCommit', { except: [namespace, 'another'], phase: 'Pending' })
    t.same(own(others.rows), [])
  })

  t.test('no resources is an empty list', async (t) => {
    t.same(own(await allRows(connectCluster(server), 'PullRequest')), [])
  })
})
