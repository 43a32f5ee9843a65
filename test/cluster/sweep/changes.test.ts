import t from 'tap'
import type { ApiAnswer, ApiCall, ApiServer } from '../../../functions/cluster/api-server.ts'
import { followChanges } from '../../../functions/cluster/sweep/changes.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { withControlPlane } from '../../harness/control-plane.ts'
import { installObjects } from '../../harness/commitlet.ts'
import { gitCommit } from '../../harness/installation.ts'
import { waitFor } from '../../harness/wait.ts'
import { recordingLog } from '../../webhook/stage.ts'
import { openAs } from '../stage.ts'

const DEADLINE = 30_000
const LATER_MS = 5_000

/** Changes at this API server; `clock.time` is their elapsed time. */
function follow(t: { readonly teardown: (end: () => void) => unknown }, server: ApiServer) {
  const clock = { time: 0 }
  const { log, lines } = recordingLog()
  const changes = followChanges({ server, log, elapsed: () => clock.time })
  const end = new AbortController()
  t.teardown(() => end.abort())
  const isLost = () => waitFor('end of the watch', () => !changes.isFollowed() || undefined, DEADLINE)
  return { ...changes, clock, lines, end, isLost, begin: () => changes.begin(end.signal) }
}

withControlPlane(t, async (t, plane) => {
  await installObjects(plane)
  const namespace = await plane.createNamespace()
  const base = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`
  const merge = { 'content-type': 'application/merge-patch+json' }
  const create = (name: string) =>
    plane.api.need('POST', base, gitCommit(name, 'https://git.example.com/a/b.git'))
  const patch = (name: string, change: object) => plane.api.need('PATCH', `${base}/${name}`, change, merge)
  const settle = (name: string, status: object) =>
    plane.api.need(
      'PATCH',
      `${base}/${name}/status?fieldManager=commitlet`,
      { status: { phase: 'Succeeded', ...status } },
      merge,
    )

  t.test('what was changed and not handled is due, until it is handled or deleted', async (t) => {
    await create('before')
    const changes = follow(t, openAs(plane.kubeconfig))
    t.equal(await changes.begin(), true)
    t.equal(await changes.begin(), false, 'it is followed already')
    // Each look is so much later that what is known is due.
    const becomes = (...names: readonly string[]) =>
      waitFor(
        `due: ${names.join()}`,
        () => {
          changes.clock.time += LATER_MS
          const ours = changes.due().filter(({ ref }) => ref.namespace === namespace)
          const found = ours.map(({ ref }) => ref.name).toSorted()
          return found.join() === names.join() || undefined
        },
        DEADLINE,
      )

    for (const name of ['gone', 'handled', 'requested']) await create(name)
    await becomes('gone', 'handled', 'requested')
    await settle('requested', { observedGeneration: 1, lastHandledRequestedAt: 'now' })
    await becomes('gone', 'handled')
    await plane.api.need('DELETE', `${base}/gone`)
    await settle('handled', { observedGeneration: 1 })
    await becomes()
    await patch('requested', { metadata: { annotations: { 'commitlet.dev/requested-at': 'again' } } })
    await becomes('requested')
    t.match(
      changes.due().find(({ ref }) => ref.name === 'requested'),
      {
        ref: { kind: 'GitCommit', namespace, generation: 1 },
        requestedAt: 'later',
      },
    )
    t.equal(changes.isFollowed(), true)
    changes.end.abort()
    await changes.isLost()
    await changes.begin()
    t.equal(changes.isFollowed(), false, 'the signal has fired')
  })
})

const TABLE = { kind: 'Table', columnDefinitions: [{ name: 'Observed' }] }

function row(name: string, generation: number, observed: number | null) {
  const metadata = { namespace: 'shop', name, uid: name, generation }
  return { cells: [observed], object: { metadata } }
}

function line(type: string, version: number, rows: readonly object[] = [], columns: object = TABLE): string {
  return JSON.stringify({ type, object: { ...columns, metadata: { resourceVersion: `${version}` }, rows } })
}

/** An API server's stand-in: `watched` answers the watches of GitCommits; those of PullRequests stay open. */
function standIn(watched: (call: ApiCall, count: number) => Promise<ApiAnswer>) {
  const paths: string[] = []
  const server: ApiServer = async (call) => {
    if (call.lines === undefined)
      return { status: 200, text: JSON.stringify({ ...TABLE, metadata: { resourceVersion: '7' }, rows: [] }) }
    if (call.path.includes('pullrequests')) return new Promise(() => undefined)
    paths.push(call.path)
    return watched(call, paths.length)
  }
  return { server, paths }
}

const silent = () => new Promise<never>(() => undefined)

t.test('a watch that ends, or breaks, goes on where it was', async (t) => {
  const { server, paths } = standIn(async ({ lines }, count) => {
    if (count === 1) {
      lines?.take(line('ADDED', 8, [row('a', 2, 1)]))
      lines?.take(line('MODIFIED', 9, [row('b', 1, null)], { columnDefinitions: null }))
      lines?.take(line('BOOKMARK', 12))
      return { status: 200, text: '' }
    }
    if (count === 2) throw new Failure('NetworkError', 'The API server could not be reached.')
    if (count === 3) return { status: 429, text: '{}' }
    return silent()
  })
  const changes = follow(t, server)
  await changes.begin()
  await waitFor('fourth watch', () => paths[3], DEADLINE)
  t.match(paths[0], /resourceVersion=7&?/)
  for (const path of paths.slice(1)) t.match(path, /resourceVersion=12/)
  t.equal(changes.isFollowed(), true)
  t.same(changes.due(), [], 'they are new')
  changes.clock.time += LATER_MS
  t.same(
    changes.due().map(({ ref }) => ref.name),
    ['a', 'b'],
  )
})

for (const [title, answer] of [
  ['a version that the API server does not remember', line('ERROR', 0)],
  ['a line that is no change', '{"kind":"Status"}'],
  ['a line that is cut', '{"type":"ADD'],
  [
    'rows without the names of their columns',
    line('ADDED', 8, [row('a', 2, 2)], { columnDefinitions: null }),
  ],
  [
    'more changes than are kept',
    line(
      'ADDED',
      8,
      Array.from({ length: 10_001 }, (_, i) => row(`r-${i}`, 2, 1)),
    ),
  ],
] as const)
  t.test(`after ${title} changes are not followed, until they are followed again`, async (t) => {
    const { server } = standIn(async ({ lines }, count) => {
      // The watch itself does not end.
      if (count === 1) lines?.take(answer)
      return silent()
    })
    const changes = follow(t, server)
    await changes.begin()
    await changes.isLost()
    t.equal(await changes.begin(), true)
    changes.clock.time += LATER_MS
    t.same([changes.isFollowed(), changes.due()], [true, []])
  })

t.test('without the right to watch, one line says so, however often it is tried', async (t) => {
  const { server, paths } = standIn(async () => ({ status: 403, text: '{}' }))
  const changes = follow(t, server)
  for (let round = 1; round <= 3; round += 1) {
    t.equal(await changes.begin(), true)
    await changes.isLost()
    t.equal(paths.length, round)
  }
  t.match(changes.lines, [{ level: 40, msg: /no right to watch/ }])
  t.equal(changes.lines.length, 1)
})

t.test('a line that is too long, and a time without any, end it', async (t) => {
  const tooLong = standIn(() => Promise.reject(new Failure('NotSupported', 'Too long.')))
  const one = follow(t, tooLong.server)
  await one.begin()
  await one.isLost()
  t.equal(tooLong.paths.length, 1)

  const unreachable = standIn(async () => {
    two.clock.time += 120_000
    throw new Failure('NetworkError', 'The API server could not be reached.')
  })
  const two = follow(t, unreachable.server)
  await two.begin()
  await two.isLost()
  t.equal(unreachable.paths.length, 3, 'for six minutes')
})

t.test('a list that cannot be read is its Failure, and nothing is followed', async (t) => {
  const changes = follow(t, async () => ({ status: 500, text: '{}' }))
  await t.rejects(changes.begin(), { name: 'Failure', reason: 'ProviderUnavailable' })
  t.equal(changes.isFollowed(), false)
})
