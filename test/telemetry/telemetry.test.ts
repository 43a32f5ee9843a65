import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { FUNCTION_METRICS } from '../../functions/domain/telemetry/function-metrics.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import { openTelemetry } from '../../functions/telemetry/telemetry.ts'
import { recordingLog } from '../webhook/stage.ts'

t.test('without a port nothing is measured and nothing is served', async (t) => {
  const telemetry = openTelemetry(undefined, FUNCTION_METRICS)
  const { log, lines } = recordingLog()
  await telemetry.listen(log)
  t.equal(telemetry.meter, NO_METER)
  t.same(lines, [])
  await telemetry.close()
})

t.test('a port that is taken is logged, and the program goes on', async (t) => {
  const taken = createServer().listen(0, '::')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const telemetry = openTelemetry(port, FUNCTION_METRICS)
  const { log, lines } = recordingLog()
  await telemetry.listen(log)
  t.match(lines, [{ level: 50, msg: /^METRICS_PORT cannot be used/, origin: { code: 'EADDRINUSE' } }])
  telemetry.meter.record(FUNCTION_METRICS.events, 1, { code: '202' })
  await telemetry.close()
})
