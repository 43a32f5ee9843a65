import t from 'tap'
import type { Test } from 'tap'
import type { AppliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { envelopeOf } from '../../../functions/domain/resource/envelope.ts'
import type { Intervals, SweepParts } from '../../../webhook/delivery/sweep.ts'
import { pauseAfter, startSweeps, timeLists } from '../../../webhook/delivery/sweep.ts'
import { memoryCluster } from '../../harness/memory-cluster.ts'
import { recordingMeter } from '../../harness/recording-meter.ts'
import { waitFor } from '../../harness/wait.ts'
import { gitCommit, recordingLog } from '../stage.ts'

/** A cluster with fresh resources, and a sink that accepts everything. */
function stage(t: Test, names: readonly string[], kind = 'GitCommit') {
  const cluster = memoryCluster()
  for (const name of names) cluster.apply({ ...gitCommit(), kind, metadata: { namespace: 'shop', name } })
  const sent: AppliedEvent[] = []
  const { log, lines } = recordingLog()
  const listeners: { dropped: () => void } = { dropped: () => undefined }
  const sink = {
    send: (event: AppliedEvent) => sent.push(event) > 0,
    hasRoom: () => true,
    isUnderway: () => false,
    onDropped: (dropped: () => void) => void (listeners.dropped = dropped),
  }
  const sweep = (intervals: Intervals, changes: Partial<SweepParts> = {}) => {
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
  return { cluster, sink, sent, sentNames, lines, sweep, swept, drop: () => listeners.dropped() }
}

const NOW = Date.parse('2026-01-01T12:00:00Z')
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

t.test('after an event was dropped, the unsettled sweep does not wait for its interval', async (t) => {
  const { sentNames, sweep, drop } = stage(t, ['a'])
  const now = performance.now.bind(performance)
  t.teardown(() => void (performance.now = now))
  sweep({ unsettledMs: 3_600_000, fullMs: 0 })
  // More than the least time between two sweeps has passed.
  performance.now = () => now() + 10_000
  t.same(sentNames(), [])
  drop()
  t.equal(await waitFor('event', () => sentNames()[0], 5_000), 'a')
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

t.test('a resource for whose event there is no room is not even read', async (t) => {
  const { cluster, sink, sent, sweep, swept, lines } = stage(t, ['a', 'b', 'c'])
  const reads: string[] = []
  const readResource: typeof cluster.readResource = async (ref) => {
    reads.push(ref.name)
    return cluster.readResource(ref)
  }
  sweep(FULL, {
    cluster: { ...cluster, readResource },
    sink: { ...sink, hasRoom: () => reads.length < 2, send: (event) => sink.send(event) && sent.length < 2 },
  })
  await swept(2)
  t.strictSame(reads, ['a', 'b'])
  t.match(lines[0], { events: 1 }, 'an event that was dropped is not counted')
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
    const listUnsettled: typeof cluster.listUnsettled = async (kind) => {
      rounds += 1
      if (rounds === 1) throw error
      return cluster.listUnsettled(kind)
    }
    sweep(UNSETTLED, { cluster: { ...cluster, listUnsettled } })
    await waitFor('event', () => sentNames()[0], 5_000)
    t.match(lines[0], { sweep: 'unsettled', resources: 'gitcommits', reason, msg: /the next one continues/ })
  })
}

t.test('an API server that goes away in a round ends it', async (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `resource-${index}`)
  const { cluster, sentNames, lines, sweep, swept } = stage(t, names)
  let reads = 0
  const readResource = (): Promise<unknown> => {
    reads += 1
    return Promise.reject(new Failure('Timeout', 'The API server did not answer.'))
  }
  sweep(FULL, { cluster: { ...cluster, readResource } })
  await swept(2)
  t.equal(reads, 16, 'those that were read at once')
  t.strictSame(sentNames(), [])
  t.match(lines[0], { reason: 'Timeout' })
})

t.test('two rounds never run at once, and stopping waits for the one that runs', async (t) => {
  const { cluster, sentNames, sweep } = stage(t, ['a', 'b'])
  const gate = Promise.withResolvers<undefined>()
  let running = 0
  let most = 0
  const listUnsettled: typeof cluster.listUnsettled = async (kind) => {
    running += 1
    most = Math.max(most, running)
    await gate.promise
    running -= 1
    return cluster.listUnsettled(kind)
  }
  const stop = sweep({ unsettledMs: 1, fullMs: 0 }, { cluster: { ...cluster, listUnsettled } })
  await waitFor('round', () => running || undefined, 5_000)
  const stopped = stop()
  gate.resolve(undefined)
  await stopped
  t.equal(most, 1)
  t.equal(running, 0, 'the round is over')
  t.strictSame(sentNames(), [], 'a round that is told to stop sends nothing more')
})

const TIMES = { intervalMs: 30_000, listingMs: 100, now: NOW }

for (const [title, seen, times, least, most] of [
  ['nothing that becomes due', {}, {}, 27_000, 33_000],
  ['a resource that becomes due before the next round', { earliest: NOW + 12_000 }, {}, 12_000, 12_000],
  ['one that becomes due after it', { earliest: NOW + 40_000 }, {}, 27_000, 33_000],
  ['one that becomes due at once', { earliest: NOW + 1 }, {}, 4_500, 5_500],
  [
    'one that becomes due at once, after a long round',
    { earliest: NOW + 1 },
    { listingMs: 2_000 },
    16_200,
    19_800,
  ],
  ['a very long round', { earliest: NOW + 1 }, { listingMs: 20_000 }, 27_000, 33_000],
  ['no room for an event', { isCrowded: true }, {}, 4_500, 5_500],
  ['a short interval', { isCrowded: true }, { intervalMs: 100 }, 90, 110],
] as const) {
  t.test(`after ${title} the next round begins in ${least} to ${most} ms`, async (t) => {
    const wait = pauseAfter({ earliest: Infinity, isCrowded: false, ...seen }, { ...TIMES, ...times })
    t.ok(wait >= least && wait <= most, String(wait))
  })
}

t.test('the time of lists alone counts, also of those that fail', async (t) => {
  const { cluster } = stage(t, ['a'])
  const { promise, reject } = Promise.withResolvers<never>()
  const lists = timeLists({ ...cluster, listPage: () => promise })
  const listed = lists.listPage('GitCommit', {}).catch((error: unknown) => error)
  setTimeout(() => reject(new Failure('Timeout', 'The API server did not answer.')), 30)
  t.match(await listed, { reason: 'Timeout' })
  t.ok(lists.takeMs() >= 25)
  t.equal(lists.takeMs(), 0)
  t.equal((await timeLists(cluster).listPage('GitCommit', {})).rows.length, 1)
})

t.test('a full sweep that takes long does not hold up the other one', async (t) => {
  const { cluster, sentNames, sweep } = stage(t, ['a'])
  const never = Promise.withResolvers<never>()
  const listPage: typeof cluster.listPage = (kind, query) =>
    query.phase === undefined ? never.promise : cluster.listPage(kind, query)
  sweep({ unsettledMs: 5, fullMs: 5 }, { cluster: { ...cluster, listPage } })
  await waitFor('event', () => sentNames()[0], 5_000)
  never.reject(new Failure('Timeout', 'The API server did not answer.'))
})

t.test('what is due is due by the clock of the API server, whatever that of this machine says', async (t) => {
  for (const [ahead, expected] of [
    [600_000, ['claimed']],
    [-600_000, []],
  ] as const) {
    const { cluster, sentNames, sweep, swept } = stage(t, ['claimed'])
    const claimed = envelopeOf(cluster.get('GitCommit', 'shop', 'claimed'))
    const nextAttemptTime = new Date().toISOString()
    await cluster.patchStatus(claimed, { observedGeneration: 1, phase: 'Progressing', nextAttemptTime })
    const now = () => new Date(Date.now() + ahead)
    sweep(UNSETTLED, { cluster: { ...cluster, now } })
    await swept(4)
    t.same(sentNames().slice(0, 1), expected)
  }
})

t.test('a replica sweeps while it has the turn, at once, and forgets what it has found', async (t) => {
  const { cluster, sink, sentNames } = stage(t, ['a'])
  const { meter, recorded } = recordingMeter()
  const { log } = recordingLog()
  let begins = Promise.withResolvers<AbortSignal | undefined>()
  const turn = { begun: () => begins.promise, stop: async () => begins.resolve(undefined) }
  const hour = { unsettledMs: 3_600_000, fullMs: 3_600_000 }
  const stop = startSweeps({ cluster, sink, log, turn }, hour, meter)
  t.teardown(stop)
  const latest = (name: string, labels: object) =>
    recorded.findLast(
      ([one, of]) => one === name && Object.entries(labels).every(([key, value]) => of[key] === value),
    )?.[2]
  const pending = () => latest('unsettled_resources', { kind: 'GitCommit', phase: 'Pending' })
  for (const times of [1, 2]) {
    const ends = new AbortController()
    begins.resolve(ends.signal)
    // Each turn has both sweeps.
    await waitFor('events', () => sentNames().length >= 2 * times || undefined, 5_000)
    await waitFor('figures', () => pending() === 1 || undefined, 5_000)
    begins = Promise.withResolvers()
    ends.abort()
    await waitFor('figures without it', () => pending() === 0 || undefined, 5_000)
    t.equal(latest('sweep_due_resources', { sweep: 'unsettled', kind: 'GitCommit' }), 0)
  }
  t.strictSame(sentNames(), ['a', 'a', 'a', 'a'])
  await stop()
})

t.test('a round is measured: its events, what was due and for how long, what is not settled', async (t) => {
  const { cluster, sink, lines } = stage(t, ['a', 'b'])
  const now = cluster.now().getTime()
  const nextAttemptTime = new Date(now - 90_000).toISOString()
  const late = cluster.apply({ ...gitCommit(), metadata: { namespace: 'shop', name: 'late' } })
  await cluster.patchStatus(envelopeOf(late), { observedGeneration: 1, phase: 'Retrying', nextAttemptTime })
  const { meter, recorded } = recordingMeter()
  const { log } = recordingLog()
  t.teardown(startSweeps({ cluster, sink, log }, UNSETTLED, meter))
  const valueOf = (name: string, labels: Readonly<Record<string, string>>) =>
    recorded.find(
      ([one, of]) => one === name && Object.entries(labels).every(([key, value]) => of[key] === value),
    )?.[2]
  await waitFor('round', () => valueOf('unsettled_resources', { phase: 'Pending' }), 5_000)
  t.strictSame(lines, [])
  t.equal(valueOf('sweep_events_total', { sweep: 'unsettled', kind: 'GitCommit' }), 3)
  t.equal(valueOf('sweep_due_resources', { sweep: 'unsettled', kind: 'GitCommit' }), 3)
  t.equal(valueOf('sweep_due_resources', { sweep: 'unsettled', kind: 'PullRequest' }), 0)
  t.ok((valueOf('sweep_overdue_seconds', {}) ?? 0) >= 90)
  t.equal(valueOf('unsettled_resources', { kind: 'GitCommit', phase: 'Retrying' }), 1)
  t.equal(valueOf('sweep_failures_total', { sweep: 'unsettled', kind: 'GitCommit' }), 0)
  t.ok(
    Math.abs((valueOf('sweep_finished_timestamp_seconds', { sweep: 'unsettled' }) ?? 0) * 1000 - now) <
      60_000,
  )
})
