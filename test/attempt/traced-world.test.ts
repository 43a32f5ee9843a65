import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { openTracer, type EndedSpan } from '../../functions/telemetry/tracer.ts'
import { gitCommit, memoryWorld, pullRequest, type MemoryWorld } from '../harness/memory-world.ts'

const TRACE = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true }

/** Handles an event of the resource; returns the spans, children before their parents. */
async function traced(world: MemoryWorld, kind: 'GitCommit' | 'PullRequest' = 'GitCommit', trace = TRACE) {
  const spans: EndedSpan[] = []
  const tracer = openTracer({ ended: (span) => spans.push(span) })
  const find = finder(world.cluster, { reads: 8, waits: 8 })
  await handle({ kind, namespace: 'team', name: 'shop', trace }, find, { ...world, tracer })
  const attempt = spans.at(-1)
  const below = (parent: EndedSpan | undefined): readonly string[] =>
    spans.filter(({ parentSpanId }) => parentSpanId === parent?.context.spanId).map(({ name }) => name)
  return { spans, attempt, below }
}

t.test('an attempt continues the trace of its event, and what it calls is below it', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const { spans, attempt, below } = await traced(world)
  t.match(attempt, {
    name: 'attempt',
    parentSpanId: TRACE.spanId,
    failed: false,
    attributes: {
      'commitlet.kind': 'GitCommit',
      'k8s.namespace.name': 'team',
      'commitlet.name': 'shop',
      'commitlet.attempt': 1,
      'commitlet.reason': 'Succeeded',
      'commitlet.phase': 'Succeeded',
      'commitlet.provider': 'other',
      'commitlet.engine': 'none',
    },
  })
  t.strictSame(
    new Set(below(attempt)),
    new Set([
      ...['read resource', 'wait', 'claim', 'review access', 'discover', 'read object', 'read Secret'],
      ...['push', 'write status'],
    ]),
  )
  t.equal(below(attempt).filter((name) => name === 'write status').length, 2, 'the claim and the result')
  t.strictSame(new Set(spans.map(({ context }) => context.traceId)), new Set([TRACE.traceId]))
})

t.test('the log line of an attempt has its trace, also if nobody reads traces', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const { attempt } = await traced(world)
  const { traceId, spanId } = attempt?.context ?? {}
  t.match(world.logged, [{ msg: 'attempt succeeded', trace_id: traceId, span_id: spanId }])
  const silent = memoryWorld()
  silent.cluster.apply(gitCommit())
  silent.land = () => Promise.reject(new Failure('PushRejected', 'No.'))
  const find = finder(silent.cluster, { reads: 8, waits: 8 })
  const ref = { kind: 'GitCommit', namespace: 'team', name: 'shop', trace: TRACE } as const
  await handle(ref, find, { ...silent, tracer: openTracer() })
  t.match(silent.logged, [
    { msg: 'attempt failed', trace_id: TRACE.traceId, span_id: /^(?!00f067aa0ba902b7)[0-9a-f]{16}$/ },
  ])
  t.notMatch(JSON.stringify(silent.cluster.get('GitCommit', 'team', 'shop')), TRACE.traceId)
})

t.test('a failure is in the spans by its reason alone', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit({ message: 'A message nobody else has' }))
  world.land = () => Promise.reject(new Failure('PushRejected', 'The host said: secret words.'))
  const { spans, attempt } = await traced(world)
  const failed = spans.filter((span) => span.failed).map(({ name }) => name)
  t.strictSame(failed, ['push', 'attempt'])
  t.match(attempt?.attributes, { 'error.type': 'PushRejected', 'commitlet.phase': 'Failed' })
  t.notMatch(
    JSON.stringify(spans),
    /secret words|nobody else has|git\.example|acme|settings\.yaml|s3cr3t|developer|main"/,
  )
})

t.test('what an earlier attempt may have pushed is searched for below the attempt', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = () => Promise.reject(new Failure('NetworkError', 'No.'))
  await traced(world)
  world.cluster.remove('ConfigMap', 'team', 'shop')
  const later = { ...world, now: () => new Date('2026-03-01T12:00:00Z') }
  const { attempt, below } = await traced(later)
  t.match(attempt?.attributes, { 'commitlet.reason': 'ReferenceNotFound', 'commitlet.attempt': 2 })
  t.ok(below(attempt).includes('search'))
})

t.test('a pull request has a session with the API below its attempt', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(pullRequest())
  const { attempt, below } = await traced(world, 'PullRequest')
  t.match(attempt?.attributes, { 'commitlet.provider': 'github', 'commitlet.engine': 'api' })
  t.ok(below(attempt).includes('pull request'))
})

t.test('an attempt that is not sampled has no spans, and a settled resource has no attempt', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const { spans } = await traced(world, 'GitCommit', { ...TRACE, sampled: false })
  t.strictSame(spans, [])
  t.match(world.logged, [{ msg: 'attempt succeeded', trace_id: TRACE.traceId }])
  t.strictSame((await traced(world)).spans, [])
})
