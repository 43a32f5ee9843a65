import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { SINK_LIMITS, type SinkLimits } from '../../../webhook/delivery/sink-limits.ts'
import { openSink } from '../../../webhook/delivery/sink.ts'
import { freePort, waitFor } from '../../harness/wait.ts'
import { gitCommit, recordingLog, startSink } from '../stage.ts'

const QUICK: SinkLimits = { ...SINK_LIMITS, windowMs: 50, firstPauseMs: 1 }

function event(name: string, namespace = 'shop') {
  return appliedEvent(gitCommit({ namespace, name }), `event-${name}`)
}

function refOf(name: string, namespace = 'shop') {
  return { kind: 'GitCommit', namespace, name } as const
}

/** A sink whose server holds every answer back until it is released. */
async function open(t: Test, limits: Partial<SinkLimits> = {}) {
  const server = await startSink()
  t.teardown(() => server.close())
  const held: ServerResponse[] = []
  server.answer = (response) => held.push(response)
  const answerAll = (): void => {
    server.answer = (response) => response.writeHead(202).end()
    for (const response of held.splice(0)) response.writeHead(202).end()
  }
  const { log, lines } = recordingLog()
  const target = { url: server.url, extensions: {}, caCerts: undefined }
  const sink = openSink(target, log, { ...QUICK, ...limits })
  t.teardown(() => sink.drain(0))
  const arrivals = (count: number) =>
    waitFor(`${count} arrivals`, () => (server.received.length >= count ? true : undefined), 5_000)
  return { server, sink, lines, answerAll, arrivals, held }
}

t.test('no more than the limit is in flight, and the rest follows', async (t) => {
  const { server, sink, answerAll, arrivals } = await open(t, { inFlight: 2 })
  for (const name of ['a', 'b', 'c', 'd', 'e']) t.equal(sink.send(event(name, `of-${name}`)), true)
  await arrivals(2)
  t.ok(sink.isUnderway(refOf('a', 'of-a')), 'in flight')
  t.ok(sink.isUnderway(refOf('e', 'of-e')), 'waiting')
  t.notOk(sink.isUnderway(refOf('f', 'of-f')))
  t.equal(server.received.length, 2)
  answerAll()
  await arrivals(5)
  await waitFor('rest', () => (sink.isUnderway(refOf('e', 'of-e')) ? undefined : true), 5_000)
  t.strictSame(server.received.map(({ data }) => data.name).sort(), ['a', 'b', 'c', 'd', 'e'])
})

t.test('events of one namespace that hang leave room for another', async (t) => {
  const { server, sink, arrivals } = await open(t)
  for (let i = 0; i < 300; i += 1) sink.send(event(`hanging-${i}`))
  await arrivals(40)
  sink.send(event('small', 'bank'))
  await waitFor('bank', () => server.received.find(({ data }) => data.namespace === 'bank'), 5_000)
  t.ok(server.received.length <= SINK_LIMITS.perNamespace + 1)
})

t.test('events of 16 namespaces that hang leave room for another', async (t) => {
  const { server, sink, arrivals } = await open(t)
  for (let i = 0; i < 16 * 100; i += 1) sink.send(event(`hanging-${i}`, `hanging-${i % 16}`))
  await arrivals(200)
  sink.send(event('small', 'bank'))
  await waitFor('bank', () => server.received.find(({ data }) => data.namespace === 'bank'), 5_000)
  t.ok(server.received.length < SINK_LIMITS.inFlight)
})

t.test('a sink that answers nobody holds the next event up for a while only', async (t) => {
  const limits = { inFlight: 4, overdue: 8, slotMs: 30 }
  const { server, sink, lines } = await open(t, limits)
  for (let i = 0; i < 40; i += 1) sink.send(event('hanging', `hanging-${i}`))
  sink.send(event('small', 'shop'))
  await waitFor('shop', () => server.received.find(({ data }) => data.namespace === 'shop'), 5_000)
  const givenUp = lines.filter(({ msg }) => /was not delivered/.test(String(msg)))
  t.ok(givenUp.length >= server.received.length - limits.inFlight - limits.overdue, 'the oldest are given up')
  t.match(givenUp[0], { resource: { namespace: 'hanging-0' } })
  t.ok(sink.hasRoom('shop'))
})

t.test('beyond the waiting list events are dropped, with one line a second', async (t) => {
  const { sink, lines, arrivals } = await open(t, { inFlight: 1, waiting: 2 })
  let dropped = 0
  sink.onDropped(() => (dropped += 1))
  t.strictSame(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => sink.send(event(name))),
    [true, true, true, false, false, false],
  )
  t.equal(dropped, 3)
  await arrivals(1)
  t.match(lines, [{ events: 1, msg: 'no room for events; a sweep will find their resources' }])
  t.equal(lines.length, 1)
})

t.test('an event that is not delivered is logged and forgotten', async (t) => {
  const { log, lines } = recordingLog()
  const url = new URL(`http://127.0.0.1:${await freePort()}/`)
  const sink = openSink({ url, extensions: {}, caCerts: undefined }, log, QUICK)
  sink.send(event('a'))
  await waitFor('log line', () => lines[0], 5_000)
  t.match(lines, [
    { reason: 'NetworkError', resource: { name: 'a' }, msg: /not delivered; a sweep will find it/ },
  ])
  t.notOk(sink.isUnderway(refOf('a')))
})

t.test('a request without an answer does not block the resource for ever', async (t) => {
  const { sink, arrivals } = await open(t, { trustedMs: 30 })
  sink.send(event('a'))
  await arrivals(1)
  await waitFor('end of trust', () => (sink.isUnderway(refOf('a')) ? undefined : true), 5_000)
  sink.send(event('a'))
  await arrivals(2)
})

t.test('an older answer does not hide a newer event of the same resource', async (t) => {
  const { sink, arrivals, held } = await open(t)
  sink.send(event('a'))
  await arrivals(1)
  sink.send(event('a'))
  await arrivals(2)
  held[0]?.writeHead(202).end()
  sink.send(event('b'))
  await arrivals(3)
  t.ok(sink.isUnderway(refOf('a')))
})

t.test('draining accepts nothing more and sends what waits', async (t) => {
  const { server, sink, answerAll, arrivals, lines } = await open(t, { inFlight: 1 })
  for (const name of ['a', 'b', 'c']) sink.send(event(name))
  await arrivals(1)
  const drained = sink.drain(5_000)
  t.equal(sink.send(event('late')), false)
  answerAll()
  await drained
  t.strictSame(
    server.received.map(({ data }) => data.name),
    ['a', 'b', 'c'],
  )
  t.strictSame(lines, [])
})

t.test('a drain without anything under way ends at once', async (t) => {
  const { sink, lines } = await open(t)
  await sink.drain(60_000)
  t.strictSame(lines, [])
})

t.test('a drain ends at its deadline and reports how much is left', async (t) => {
  const { sink, lines, arrivals } = await open(t, { inFlight: 1 })
  for (const name of ['a', 'b']) sink.send(event(name))
  await arrivals(1)
  await sink.drain(10)
  t.match(lines, [{ events: 2, msg: /not sent before the end/ }])
})

t.test(
  'an event whose request broke is sent again at once, and once more when its claim has ended',
  async (t) => {
    const { server, sink, arrivals, answerAll } = await open(t, { windowMs: 5_000, claimMs: 60 })
    server.answer = (response) => {
      answerAll()
      response.destroy()
    }
    sink.send(event('a'))
    await arrivals(2)
    sink.send(event('b'))
    await arrivals(4)
    await waitFor('end', () => (sink.isUnderway(refOf('a')) ? undefined : true), 5_000)
    t.strictSame(server.received.map(({ data }) => data.name).toSorted(), ['a', 'a', 'a', 'b'])
  },
)
