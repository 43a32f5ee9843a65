import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { sample } from '../harness/sample.ts'
import { startCollector, type Misbehave, type ReceivedSpan } from '../harness/trace-collector.ts'
import { freePort } from '../harness/wait.ts'

/** What the collector does to every request; `absent`: there is none. */
const MISBEHAVIOUR: readonly (readonly [string, Misbehave | undefined])[] = [
  ['hangs', () => true],
  [
    'is full',
    (response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end()
      return true
    },
  ],
  ['is absent', undefined],
]

/** The span and those above it, up to the beginning of the trace. */
function upwards(from: ReceivedSpan, spans: readonly ReceivedSpan[]): readonly ReceivedSpan[] {
  const parent = spans.find(({ spanId }) => spanId === from.parentSpanId)
  return parent === undefined ? [from] : [from, ...upwards(parent, spans)]
}

withControlPlane(t, async (t, plane) => {
  const collector = await startCollector()
  t.teardown(() => collector.close())
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  const commitlet = await install(t, plane, { functionEnv: env, webhookEnv: env })
  const team = await commitlet.createTeam()
  const repository = await commitlet.git.createRepository(`${team.namespace}/config`)

  t.test('admission, event, attempt and push are one trace, which the log names', async (t) => {
    await team.apply(configMap(), gitCommit('shop', repository.url))
    await team.settled('shop')
    // The end of a program sends what is left.
    t.strictSame(await Promise.all([commitlet.webhook.stop(), commitlet.function.stop()]), [0, 0])
    const { spans, problems } = collector
    t.strictSame(problems, [])
    const push = spans.find(({ name }) => name === 'git push')
    if (push === undefined) throw new Error(`No push among ${spans.map(({ name }) => name).join()}`)
    const chain = upwards(push, spans)
    t.strictSame(
      chain.map(({ name, service }) => `${service}: ${name}`),
      [
        'commitlet-function: git push',
        'commitlet-function: git session',
        'commitlet-function: push',
        'commitlet-function: attempt',
        'commitlet-webhook: send event',
        'commitlet-webhook: admission',
      ],
    )
    t.strictSame(new Set(chain.map(({ traceId }) => traceId)), new Set([push.traceId]))
    const root = chain.at(-1)
    t.equal(root?.parentSpanId, undefined)
    t.ok(chain.every(({ start }) => start >= (root?.start ?? 0n)))
    const [, , , attempt] = chain
    const line = await commitlet.function.waitForLine((text) => text.includes('attempt succeeded'))
    t.match(JSON.parse(line), { trace_id: push.traceId, span_id: attempt?.spanId })
    const attributes = JSON.stringify(spans.map((span) => span.attributes))
    t.match(attributes, team.namespace)
    for (const own of ['localhost', '/config', '.yaml', 'admin', 'main', 'token']) t.notMatch(attributes, own)
  })

  for (const [what, misbehave] of sample(MISBEHAVIOUR, () => 'collector')) {
    t.test(`a commit does not wait for a collector that ${what}, and neither does the end`, async (t) => {
      const broken = misbehave === undefined ? undefined : await startCollector({ misbehave })
      t.teardown(() => broken?.close())
      const url = broken?.url ?? `http://127.0.0.1:${await freePort()}`
      const [part, webhook] = await Promise.all([
        commitlet.startFunction({ OTEL_EXPORTER_OTLP_ENDPOINT: url }),
        commitlet.startWebhook({ OTEL_EXPORTER_OTLP_ENDPOINT: url }),
      ])
      const name = what.replace(' ', '-')
      await team.apply(gitCommit(name, repository.url))
      await team.settled(name)
      const began = performance.now()
      t.strictSame(await Promise.all([part.stop(), webhook.stop()]), [0, 0])
      // The bound is 3 s for the traces, and 1 s for connections.
      t.ok(performance.now() - began < 40_000)
      const warned = part.lines.filter((line) => line.includes('traces cannot be sent'))
      t.equal(warned.length, 1)
    })
  }
})
