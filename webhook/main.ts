import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { openApiServer } from '../functions/cluster/api-server.ts'
import { connectCluster } from '../functions/cluster/connect.ts'
import { startComplaint } from '../functions/domain/settings.ts'
import { readConfig } from './config.ts'
import { buildWebhook } from './webhook.ts'

/** After the last line the process ends by itself; a connection that still holds it gets so many milliseconds. */
const END_MS = 1_000

/** Starts the webhook: env → config → webhook → listen; drains on SIGTERM. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = pino({ level: config.logLevel, base: { part: 'webhook' } })
  const cluster = connectCluster(openApiServer())
  const webhook = await buildWebhook(config, { cluster, log, uuid: randomUUID })
  const port = await webhook.listen('::')
  // Before the line that says so: whoever reads it may send SIGTERM at once.
  process.once('SIGTERM', () => {
    log.info('draining')
    void webhook.drain().then(() => {
      log.info('stopped')
      // An exit at once writes this line while an earlier one is still being written, and so before it.
      setTimeout(() => process.exit(0), END_MS).unref()
    })
  })

  log.info({ port }, 'listening')
}

main().catch((error: unknown) => {
  process.stderr.write(`${startComplaint(error)}\n`)
  process.exitCode = 1
})
