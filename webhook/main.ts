import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { openApiServer } from '../functions/cluster/api-server.ts'
import { connectCluster } from '../functions/cluster/connect.ts'
import { startComplaint } from '../functions/domain/settings.ts'
import { readConfig } from './config.ts'
import { buildWebhook } from './webhook.ts'

/** So long the last line of the log may take. */
const LAST_LINE_MS = 1_000

/** Starts the webhook: env → config → webhook → listen; drains on SIGTERM. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const out = pino.destination(process.stdout.fd)
  const log = pino({ level: config.logLevel, base: { part: 'webhook' } }, out)
  const cluster = connectCluster(openApiServer())
  const webhook = await buildWebhook(config, { cluster, log, uuid: randomUUID })
  const port = await webhook.listen('::')
  log.info({ port }, 'listening')

  process.once('SIGTERM', () => {
    log.info('draining')
    void webhook.drain().then(() => {
      // Lines are written one after the other: an exit before the last would turn them round.
      out.once('drain', () => process.exit(0))
      log.info('stopped')
      // What the drain let go of may still hold a socket open, and a silent log never drains.
      setTimeout(() => process.exit(0), LAST_LINE_MS)
    })
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`${startComplaint(error)}\n`)
  process.exitCode = 1
})
