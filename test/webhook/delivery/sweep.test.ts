import t from 'tap'
import type { Test } from 'tap'
import type { ListedResource } from '../../../functions/cluster/cluster.ts'
import type { AppliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Intervals, Sweeper } from '../../../webhook/delivery/sweep.ts'
import { isDue, startSweeps } from '../../../webhook/delivery/sweep.ts'
import { memoryCluster } from '../../harness/memory-cluster.ts'
import { waitFor } from '../../harness/wait.ts'
import { gitCommit, recordingLog, UID } from '../stage.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')

function listed(changes: Partial<ListedResource>): ListedResource {
  return {
    ref: { kind: 'GitCommit', namespace: 'shop', name: 'settings', uid: UID, generation: 2 },
    deleting: false,
    requestedAt: undefined,
    observedGeneration: 2,
    lastHandledRequestedAt: undefined,
    nextAttemptTime: undefined,
    ...changes,
  }
}

for (const [title, changes, unsettled, full] of [
  ['never started', { observedGeneration: -1 }, true, true],
  ['whose time has come', { nextAttemptTime: '2026-01-01T12:00:00Z' }, true, false],
  ['whose time has not come', { nextAttemptTime: '2026-01-01T12:00:01Z' }, false, false],
  ['whose time cannot be read', { nextAttemptTime: 'soon' }, true, false],
  ['being deleted', { observedGeneration: -1, requestedAt: 'a', deleting: true }, false, false],
  ['with a newer spec', { observedGeneration: 1, nextAttemptTime: '2026-01-01T13:00:00Z' }, false, true],
  [
    'requested again',
    { requestedAt: 'b', lastHandledRequestedAt: 'a', nextAttemptTime: '2027-01-01T00:00:00Z' },
    false,
    true,
  ],
  [
    'requested and handled',
    { requestedAt: 'a', lastHandledRequestedAt: 'a', nextAttemptTime: '2027-01-01T00:00:00Z' },
    false,
    false,
  ],
] as const) {
  t.test(`a resource ${title} is due: unsettled ${unsettled}, full ${full}`, async (t) => {
    t.equal(isDue(listed(changes), 'unsettled', NOW), unsettled)
    t.equal(isDue(listed(changes), 'full', NOW), full)
  })
}

/** A cluster with fresh resources, and a sink that accepts everything. */
function stage(t: Test, names: readonly string[], kind = 'GitCommit') {
  const cluster = memoryCluster()
  for (const name of names) cluster.apply({ ...gitCommit(), kind, metadata: { namespace: 'shop', name } })
  const sent: AppliedEvent[] = []
  const { log, lines } = recordingLog()
  const sink = { send: (event: AppliedEvent) => sent.push(event) > 0, isUnderway: () => false }
  const sweep = (intervals: Intervals, changes: Partial<Sweeper> = {}) => {
    const stop = startSweeps({ cluster, sink, log, ...changes }, intervals)
    t.teardown(stop)
    return stop
  }
  const sentNames = () => sent.map(({ data }) => data.name)
  const swept = (count: number) =>
    waitFor(
      `${count} lines`,
      () => (lines.filter(({ msg }) => msg === 'swept').length >= count ? true : undefined),
      5_000,
    )
  return { cluster, sink, sent, sentNames, lines, sweep, swept }
}

const FULL = { unsettledMs: 0, fullMs: 3_600_000 }
const UNSETTLED = { unsettledMs: 5, fullMs: 0 }

t.test('the full sweep runs at the start and announces resources whose event was lost', async (t) => {
  const { sent, sentNames, sweep, swept, lines } = stage(t, ['a', 'b'])
  sweep(FULL)
  await swept(2)
  t.strictSame(sentNames(), ['a', 'b'])
  t.match(sent[0]?.attributes, { type: 'dev.commitlet.gitcommit.applied', id: /^[0-9a-f-]{36}$/ })
  t.not(sent[0]?.attributes['id'], sent[1]?.attributes['id'])
  t.match(lines[0], { sweep: 'full', resources: 'gitcommits', events: 2 })
})

t.test('pull requests are swept as well', async (t) => {
  const { sent, sweep, swept } = stage(t, ['a'], 'PullRequest')
  sweep(FULL)
  await swept(2)
  t.match(sent, [{ attributes: { type: 'dev.commitlet.pullrequest.applied' } }])
})

t.test('the unsettled sweep runs repeatedly', async (t) => {
  const { sentNames, sweep } = stage(t, ['a'])
  sweep(UNSETTLED)
  await waitFor('third event', () => sentNames()[2], 5_000)
  t.strictSame(new Set(sentNames()), new Set(['a']))
})

t.test('both off: nothing is swept', async (t) => {
  const { sentNames, sweep } = stage(t, ['a'])
  await sweep({ unsettledMs: 0, fullMs: 0 })()
  t.strictSame(sentNames(), [])
})

t.test('a resource in flight is left to its own event', async (t) => {
  const { sentNames, sink, sweep, swept } = stage(t, ['a', 'b'])
  sweep(FULL, { sink: { ...sink, isUnderway: ({ name }) => name === 'a' } })
  await swept(2)
  t.strictSame(sentNames(), ['b'])
})

t.test('a resource that is gone meanwhile needs no event', async (t) => {
  const { cluster, sentNames, lines, sweep, swept } = stage(t, ['a', 'b'])
  const readResource: typeof cluster.readResource = async (ref) =>
    ref.name === 'a' ? undefined : cluster.readResource(ref)
  sweep(FULL, { cluster: { ...cluster, readResource } })
  await swept(2)
  t.strictSame(sentNames(), ['b'])
  t.match(lines[0], { msg: 'swept', events: 1 })
})

t.test('a sink without room ends the round', async (t) => {
  const { sink, sent, sweep, swept } = stage(t, ['a', 'b', 'c'])
  sweep(FULL, { sink: { ...sink, send: (event) => sink.send(event) && sent.length < 2 } })
  await swept(2)
  t.equal(sent.length, 2)
})

t.test('an unusable resource does not stop the rest', async (t) => {
  const { cluster, sentNames, lines, sweep, swept } = stage(t, ['a', 'b'])
  const readResource: typeof cluster.readResource = async (ref) =>
    ref.name === 'a' ? { kind: 'Surprise' } : cluster.readResource(ref)
  sweep(FULL, { cluster: { ...cluster, readResource } })
  await swept(2)
  t.strictSame(sentNames(), ['b'])
  t.match(lines[0], { msg: 'a sweep cannot use a resource', resource: { name: 'a' } })
})

for (const [title, error, reason] of [
  [
    'an API server that is down',
    new Failure('NetworkError', 'The API server could not be reached.'),
    'NetworkError',
  ],
  ['a bug', new TypeError('x is not a function'), 'Internal'],
] as const) {
  t.test(`${title} ends the round, and the next one goes on`, async (t) => {
    const { cluster, sentNames, lines, sweep } = stage(t, ['a'])
    let rounds = 0
    async function* listUnsettled(kind: 'GitCommit' | 'PullRequest') {
      rounds += 1
      if (rounds === 1) throw error
      yield* cluster.listUnsettled(kind)
    }
    sweep(UNSETTLED, { cluster: { ...cluster, listUnsettled } })
    await waitFor('event', () => sentNames()[0], 5_000)
    t.match(lines[0], { sweep: 'unsettled', resources: 'gitcommits', reason, msg: /the next one continues/ })
  })
}

t.test('an API server that goes away in a round ends it', async (t) => {
  const { cluster, sentNames, lines, sweep, swept } = stage(t, ['a', 'b'])
  let reads = 0
  const readResource = (): Promise<unknown> => {
    reads += 1
    return Promise.reject(new Failure('Timeout', 'The API server did not answer.'))
  }
  sweep(FULL, { cluster: { ...cluster, readResource } })
  await swept(2)
  t.equal(reads, 1)
  t.strictSame(sentNames(), [])
  t.match(lines[0], { reason: 'Timeout' })
})

t.test('two rounds never run at once, and stopping waits for the one that runs', async (t) => {
  const { cluster, sentNames, sweep } = stage(t, ['a', 'b'])
  const gate = Promise.withResolvers<undefined>()
  let running = 0
  let most = 0
  async function* slowly(rows: AsyncIterable<ListedResource>): AsyncIterable<ListedResource> {
    running += 1
    most = Math.max(most, running)
    try {
      await gate.promise
      yield* rows
    } finally {
      running -= 1
    }
  }
  const listAll: typeof cluster.listAll = (kind) => slowly(cluster.listAll(kind))
  const listUnsettled: typeof cluster.listUnsettled = (kind) => slowly(cluster.listUnsettled(kind))
  const stop = sweep({ unsettledMs: 1, fullMs: 1 }, { cluster: { ...cluster, listAll, listUnsettled } })
  await waitFor('round', () => running || undefined, 5_000)
  const stopped = stop()
  gate.resolve(undefined)
  await stopped
  t.equal(most, 1)
  t.equal(running, 0, 'the round is over')
  t.strictSame(sentNames(), [], 'a round that is told to stop sends nothing more')
})
