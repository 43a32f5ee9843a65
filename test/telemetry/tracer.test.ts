import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { endWith, inSpan } from '../../functions/domain/telemetry/tracer.ts'
import { openTracer, type EndedSpan, type TracerOptions } from '../../functions/telemetry/tracer.ts'

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true }

function stage(options: TracerOptions = {}) {
  const spans: EndedSpan[] = []
  return { ...openTracer({ ended: (span) => spans.push(span), ...options }), spans }
}

t.test('a span continues the trace of its parent, and its children are within it', async (t) => {
  const { begin, spans } = stage()
  const before = Date.now()
  const root = begin('attempt', { parent: PARENT, secondsAgo: 2, attributes: { 'commitlet.name': 'shop' } })
  await inSpan(root, 'push', async (push) => push.past('call API', 1, { 'http.request.method': 'GET' }))
  root.set({ 'commitlet.reason': 'Succeeded' })
  root.end()
  root.end(new Failure('Internal', 'Too late.'))
  t.match(
    spans.map(({ name }) => name),
    ['call API', 'push', 'attempt'],
  )
  const [call, push, attempt] = spans
  t.strictSame(new Set(spans.map(({ context }) => context.traceId)), new Set([PARENT.traceId]))
  t.equal(new Set(spans.map(({ context }) => context.spanId)).size, 3)
  t.strictSame(
    [call?.parentSpanId, push?.parentSpanId, attempt?.parentSpanId],
    [push?.context.spanId, attempt?.context.spanId, PARENT.spanId],
  )
  t.strictSame(attempt?.attributes, { 'commitlet.name': 'shop', 'commitlet.reason': 'Succeeded' })
  t.equal(attempt?.failed, false)
  const [start = 0, end = 0] = [attempt?.startMs, attempt?.endMs]
  t.ok(start <= before - 1_990 && end >= before - 5, `${start} to ${end}, began at ${before}`)
  t.ok((call?.endMs ?? 0) - (call?.startMs ?? 0) > 990)
})

t.test('of an error, its reason is kept and nothing of its text', async (t) => {
  const { begin, spans } = stage()
  const refused = new Failure('PushRejected', 'The host said: secret words')
  await t.rejects(endWith(begin('push'), () => Promise.reject(refused)))
  await t.rejects(endWith(begin('push'), () => Promise.reject(new TypeError('secret words'))))
  t.match(spans, [
    { failed: true, attributes: { 'error.type': 'PushRejected' } },
    { failed: true, attributes: { 'error.type': 'Internal' } },
  ])
  t.notMatch(JSON.stringify(spans), /secret/)
})

t.test('spans of two traces name each other, and a span has a bounded number of links', async (t) => {
  const { begin, spans } = stage()
  const [one, other] = [begin('push'), begin('push')]
  for (let links = 0; links < 100; links += 1) one.link(other)
  one.end()
  t.equal(spans[0]?.links.length, 32)
  t.strictSame(spans[0]?.links[0], other.context)
})

t.test('without a reader there are ids, and nothing is recorded', async (t) => {
  const { begin } = openTracer()
  const [one, other] = [begin('attempt'), begin('attempt', { parent: PARENT })]
  t.match(one.context, { traceId: /^[0-9a-f]{32}$/, spanId: /^[0-9a-f]{16}$/, sampled: true })
  t.not(one.context?.traceId, other.context?.traceId)
  t.equal(other.context?.traceId, PARENT.traceId)
  t.equal(one.recording, false)
  t.equal(one.child('push'), one)
})

t.test('a trace that is not sampled is not recorded, but continued as it is', async (t) => {
  const { begin, spans } = stage()
  const span = begin('attempt', { parent: { ...PARENT, sampled: false } })
  span.child('push').end()
  span.past('push', 1)
  span.set({})
  span.link(span)
  span.end()
  t.strictSame(spans, [])
  t.match(span.context, { traceId: PARENT.traceId, sampled: false })
})
