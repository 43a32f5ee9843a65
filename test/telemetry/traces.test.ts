import t from 'tap'
import { readProxies } from '../../functions/domain/network/proxies.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { readTraceSettings } from '../../functions/telemetry/trace-settings.ts'
import { openTraces } from '../../functions/telemetry/traces.ts'
import { startCollector } from '../harness/trace-collector.ts'
import { freePort } from '../harness/wait.ts'
import { recordingLog } from '../webhook/stage.ts'

function open(endpoint: string) {
  const { log, lines } = recordingLog()
  const settings = readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, 'commitlet-test')
  const route = { trust: followTrust(undefined), proxies: readProxies({}) }
  return { traces: openTraces(settings, { meter: NO_METER, log, route }), lines }
}

t.test('without settings spans have ids, and nothing is sent', async (t) => {
  const { tracer, close } = await open('').traces
  const span = tracer.begin('attempt')
  t.match(span, { recording: false, context: { traceId: /^[0-9a-f]{32}$/ } })
  await close()
})

t.test('with settings spans are sent, at the latest at the end', async (t) => {
  const collector = await startCollector()
  t.teardown(() => collector.close())
  const { tracer, close } = await open(collector.url).traces
  tracer.begin('attempt').end()
  await close()
  t.match(collector.spans, [{ name: 'attempt', kind: 5, service: 'commitlet-test' }])
  t.strictSame(collector.problems, [])
})

t.test('a collector that is not there is in the log, once', async (t) => {
  const { traces, lines } = open(`http://127.0.0.1:${await freePort()}`)
  const { tracer, close } = await traces
  tracer.begin('attempt').end()
  await close()
  t.match(lines, [{ level: 40, cause: 'ECONNREFUSED', msg: /^traces cannot be sent/ }])
})
