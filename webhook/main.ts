import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { measureServer } from '../functions/cluster/measured-server.ts'
import { openApiServer } from '../functions/cluster/api-server.ts'
import { connectCluster } from '../functions/cluster/connect.ts'
import { PROGRAM_METRICS } from '../functions/domain/telemetry/program-metrics.ts'
import { watchProcess } from '../functions/telemetry/process-figures.ts'
import { openTelemetry } from '../functions/telemetry/telemetry.ts'
import { startComplaint } from '../functions/domain/settings.ts'
import { readConfig } from './config.ts'
import { WEBHOOK_METRICS } from './metrics.ts'
import { buildWebhook } from './webhook.ts'

/** After the last log line the process normally ends; if an open connection keeps it alive, it exits after this time. */
const END_MS = 1_000

/** Starts the webhook: env → config → webhook → listen; drains on SIGTERM. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = pino({ level: config.logLevel, base: { part: 'webhook' } })
  const telemetry = openTelemetry(config.metricsPort, { ...PROGRAM_METRICS, ...WEBHOOK_METRICS })
  const { meter } = telemetry
  const cluster = connectCluster(measureServer(openApiServer(), meter, () => performance.now()))
  const webhook = await buildWebhook(config, { cluster, log, meter, uuid: randomUUID })
  const port = await webhook.listen('::')
  // Before the log line: a reader of the log may send SIGTERM as soon as it appears.
  process.once('SIGTERM', () => {
    log.info('draining')
    void webhook.drain().then(async () => {
      await telemetry.close()
      log.info('stopped')
      // An immediate exit could write this line before earlier ones that are still being written.
      setTimeout(() => process.exit(0), END_MS).unref()
    })
  })

  watchProcess(webhook.inHand, log, meter)
  await telemetry.listen(log)
  log.info({ port }, 'listening')
}

main().catch((error: unknown) => {
  process.stderr.write(`${startComplaint(error)}\n`)
  process.exitCode = 1
})
