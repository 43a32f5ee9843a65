import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { chooseEngine } from '../../functions/git/engine-choice.ts'
import { measureEngine, sessionSpan } from '../../functions/git/measured-engine.ts'
import type { Engine, EngineName, Remote } from '../../functions/git/remote.ts'
import { land } from '../../functions/git/writer/land.ts'
import { NO_SPAN } from '../../functions/domain/telemetry/tracer.ts'
import { openTracer, type EndedSpan } from '../../functions/telemetry/tracer.ts'
import { recordingMeter } from '../harness/recording-meter.ts'
import { addressOf, changeOf, endingsOf, loginOf, patience, pending, REACHED } from './stage.ts'
import { memoryRepository, URL } from './writer/memory-remote.ts'

/** Both engines, measured, on one repository in memory; some functions of the direct one are replaced. */
function stage(replaced: Partial<Remote> = {}) {
  const repository = memoryRepository()
  const { meter, recorded } = recordingMeter()
  const engineWith = (changes: Partial<Remote>): Engine => ({
    open: async () => ({ ...repository.open(), ...changes }),
    close: () => Promise.resolve(),
  })
  const engine = chooseEngine({
    direct: measureEngine(engineWith(replaced), 'direct', meter),
    binary: measureEngine(engineWith({}), 'binary', meter),
  })
  const chosen: EngineName[] = []
  async function push(...paths: readonly string[]) {
    const target = {
      address: addressOf(URL),
      route: REACHED,
      login: loginOf('token'),
      signal: patience(),
      namespace: 'shop',
      engineChosen: (name: EngineName) => void chosen.push(name),
    }
    const remote = await engine.open(target)
    const batch = paths.map((path) => pending(changeOf(URL, path)))
    return endingsOf(batch, land(remote, { batch, signal: patience() }))
  }
  const steps = (outcome: string) =>
    recorded.flatMap(([name, labels]) =>
      name === 'git_duration_seconds' && labels['outcome'] === outcome
        ? [`${labels['engine']} ${labels['step']}`]
        : [],
    )
  return { push, recorded, chosen, steps, engine }
}

t.test('each step of a session is measured, and the commits of its push', async (t) => {
  const { push, recorded, chosen, steps } = stage()
  await push('a.md', 'b.md', 'c.md')
  t.strictSame(steps('done'), ['direct open', 'direct tip', 'direct tree', 'direct write', 'direct push'])
  t.match(recorded.at(-1), ['commits_per_push', { engine: 'direct' }, 3])
  t.strictSame(chosen, ['direct'])
})

t.test('a step that is handed over is not a failure, and the binary engine is named last', async (t) => {
  const { push, chosen, steps, recorded } = stage({
    readTree: () => Promise.reject(new Error('it has no filters')),
  })
  await push('a.md')
  t.strictSame(steps('handed over'), ['direct tree'])
  t.strictSame(steps('failed'), [])
  t.ok(steps('done').includes('binary push'))
  t.strictSame(chosen, ['direct', 'binary'])
  t.match(recorded.at(-1), ['commits_per_push', { engine: 'binary' }, 1])
})

t.test('a Failure is one, and a push that does not land has no commits', async (t) => {
  const failure = new Failure('PushRejected', 'Protected.')
  const { push, steps, recorded } = stage({
    push: () => Promise.resolve({ kind: 'refused', failure, each: false }),
  })
  await push('a.md')
  t.notOk(recorded.some(([name]) => name === 'commits_per_push'))
  const lost = stage({ readTip: () => Promise.reject(failure) })
  await lost.push('a.md')
  t.strictSame(lost.steps('failed'), ['direct tip'])
  t.notOk(steps('failed').length > 0)
})

t.test('the steps of a session are in the trace of its first change, which the others name', async (t) => {
  const spans: EndedSpan[] = []
  const tracer = openTracer({ ended: (span) => spans.push(span) })
  const pushes = ['a.md', 'b.md'].map((path) => ({
    ...pending(changeOf(URL, path)),
    span: tracer.begin('push'),
  }))
  const session = sessionSpan([pending(changeOf(URL, 'c.md')), ...pushes])
  const { engine } = stage({ readTree: () => Promise.reject(new Error('it has no filters')) })
  const target = { address: addressOf(URL), route: REACHED, login: loginOf('token'), signal: patience() }
  const remote = await engine.open({ ...target, namespace: 'shop', span: session })
  await endingsOf(pushes, land(remote, { batch: pushes, signal: patience() }))
  session.end()
  for (const { span } of pushes) span.end()
  const [first, second] = pushes.map(({ span }) => span.context)
  const ended = spans.find(({ name }) => name === 'git session')
  t.match(ended, { parentSpanId: first?.spanId, links: [second], attributes: { 'commitlet.changes': 3 } })
  t.match(spans.at(-1), { context: second, links: [ended?.context] })
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === ended?.context.spanId)
  t.strictSame(
    steps.map(({ name, attributes }) => `${name}: ${attributes['commitlet.engine']}`),
    [
      ...['git open: direct', 'git tip: direct', 'git tree: direct', 'git open: binary', 'git tip: binary'],
      ...['git tree: binary', 'git write: binary', 'git push: binary'],
    ],
  )
  t.match(steps[2], { failed: false, attributes: { 'commitlet.outcome': 'handed over' } })
  t.equal(sessionSpan([pending(changeOf(URL, 'c.md'))]), NO_SPAN)
})
