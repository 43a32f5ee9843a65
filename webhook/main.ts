import { randomUUID } from 'node:crypto'
import { measureServer } from '../functions/cluster/measured-server.ts'
import type { ApiServer } from '../functions/cluster/api-server.ts'
import { openApiServer, ownNamespace } from '../functions/cluster/api-server.ts'
import { connectCluster } from '../functions/cluster/connect.ts'
import { followServerClock, type ServerClock } from '../functions/cluster/server-clock.ts'
import { followChanges } from '../functions/cluster/sweep/changes.ts'
import { secretAt } from '../functions/cluster/serving/secret-store.ts'
import { webhookTrustAt } from '../functions/cluster/serving/webhook-trust.ts'
import { watchFollowers } from '../functions/cluster/sweep/followers.ts'
import type { LeaseStore } from '../functions/cluster/sweep/lease.ts'
import { leaseAt } from '../functions/cluster/sweep/lease.ts'
import { PROGRAM_METRICS } from '../functions/domain/telemetry/program-metrics.ts'
import { atEveryAddress } from '../functions/net/every-address.ts'
import { followTrust } from '../functions/net/trust.ts'
import { drain } from '../functions/telemetry/draining.ts'
import { openLog } from '../functions/telemetry/log.ts'
import { watchProcess } from '../functions/telemetry/process-figures.ts'
import { openTelemetry } from '../functions/telemetry/telemetry.ts'
import { openTraces } from '../functions/telemetry/traces.ts'
import { startComplaint, WrongSetting } from '../functions/domain/settings.ts'
import { keepCertificate } from './certificate/keeper.ts'
import { readConfig } from './config.ts'
import type { WebhookConfig } from './config.ts'
import { WEBHOOK_METRICS } from './metrics.ts'
import { readClientCA } from './tls.ts'
import type { KeyPairSource } from './tls.ts'
import { buildWebhook, END_MS } from './webhook.ts'

/** Starts the webhook: env → config → webhook → listen; drains on SIGTERM. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  const { log, giveUp } = openLog('webhook', config.logLevel)
  const telemetry = openTelemetry(config.metricsPort, { ...PROGRAM_METRICS, ...WEBHOOK_METRICS })
  const { meter } = telemetry
  const trust = followTrust(config.caFile, ({ reason, message }) =>
    log.error({ reason, cause: message }, 'CA_FILE cannot be used; the previous authorities stay in use'),
  )
  const traces = await openTraces(config.traces, { meter, log, route: { trust, proxies: config.proxies } })
  delete process.env['OTEL_EXPORTER_OTLP_HEADERS']
  const { tracer } = traces
  const elapsed = (): number => performance.now()
  const clock = followServerClock(measureServer(openApiServer(), meter, elapsed), elapsed)
  const { server } = clock
  const cluster = connectCluster(server)
  const webhook = await buildWebhook(config, {
    cluster,
    log,
    meter,
    tracer,
    uuid: randomUUID,
    lease: leaseOfSweeps(server),
    keyPairs: keptCertificate(config, clock),
    changes: followChanges({ server, log, elapsed }),
    followers: watchFollowers({ server, log, elapsed }),
  })
  const port = await atEveryAddress(webhook.listen)
  // Before the log line: a reader of the log may send SIGTERM as soon as it appears.
  process.once('SIGTERM', () => {
    log.info('draining')
    void drain({
      steps: {
        'reviews in hand and their events': () => webhook.drain(),
        'traces and metrics': () => Promise.all([traces.close(), telemetry.close()]),
      },
      mostMs: END_MS,
      inHand: webhook.inHand,
      log,
      exit(code) {
        giveUp()
        process.exit(code)
      },
    })
  })

  watchProcess(webhook.inHand, log, meter)
  await telemetry.listen(log)
  log.info({ port }, 'listening')
}

/** The name of the Lease in manifests/rbac-webhook.yaml. Outside of a namespace there is none, and each replica sweeps. */
function leaseOfSweeps(server: ApiServer): LeaseStore | undefined {
  const namespace = ownNamespace()
  return namespace === undefined ? undefined : leaseAt(server, { namespace, name: 'commitlet-sweeps' })
}

/** The certificate that the webhook keeps itself, if TLS_SECRET names a Secret: for the names in manifests/. */
function keptCertificate(
  { tlsSecret: name, tls }: WebhookConfig,
  { server, now }: ServerClock,
): KeyPairSource | undefined {
  if (name === undefined) return undefined
  const namespace = ownNamespace()
  if (namespace === undefined)
    throw new WrongSetting('TLS_SECRET is set, but the webhook runs in no namespace; set TLS_CERT_FILE.')
  return keepCertificate({
    secret: secretAt(server, { namespace, name }),
    trust: webhookTrustAt(server, 'commitlet'),
    host: `commitlet-webhook.${namespace}.svc`,
    now,
    clientCA: () => readClientCA(tls),
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`${startComplaint(error)}\n`)
  process.exitCode = 1
})
