import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import type { Logger } from 'pino'
import { guardAddresses } from '../functions/net/addresses.ts'
import { buildApp } from '../functions/app.ts'
import { makeWaitingSearch } from '../functions/arrival/waiting-resources.ts'
import { handle } from '../functions/attempt/attempt.ts'
import { shareHandshakes } from '../functions/attempt/turns/thread/handshake-share.ts'
import { divide } from '../functions/attempt/turns/shares.ts'
import { shareThread } from '../functions/attempt/turns/thread/thread-share.ts'
import { openTurns } from '../functions/attempt/turns/turns.ts'
import { readConfig } from '../functions/config.ts'
import { readPodSize } from '../functions/pod-size.ts'
import { finder } from '../functions/attempt/find.ts'
import { openGit } from '../functions/git/git.ts'
import { openTracer } from '../functions/telemetry/tracer.ts'
import { NO_METER } from '../functions/domain/telemetry/meter.ts'
import { openWorld } from '../functions/open-world.ts'
import { followTrust } from '../functions/net/trust.ts'
import type { Cluster } from '../functions/cluster/cluster.ts'
import { readConfig as readWebhookConfig } from '../webhook/config.ts'
import { buildWebhook } from '../webhook/webhook.ts'
import type { Leftovers } from './leftovers.ts'
import type { Site } from './site.ts'

const HOST = '127.0.0.1'
const WAITS = 8
const DRAIN_MS = 2_000

/** What both programs need: the cluster, files, and the list of what is closed at the end. `port`: default a free one. */
export interface ProgramContext<S> {
  readonly cluster: Cluster
  readonly site: S
  readonly leftovers: Leftovers
  readonly port?: number
}

/** What the function needs of the site. */
export type FunctionSite = Pick<Site, 'folder' | 'caFile' | 'stampKeyFile'>

/** Starts the function as functions/main.ts does, on a cluster in memory. Returns its address. */
export async function startFunction(context: ProgramContext<FunctionSite>): Promise<string> {
  const { cluster, site, leftovers, port = 0 } = context
  const config = readConfig({ PORT: String(port), CA_FILE: site.caFile, STAMP_KEY_FILE: site.stampKeyFile })
  const network = {
    resolve: guardAddresses(config.surroundings),
    proxies: config.proxies,
    insecureHosts: config.insecureHosts,
    handshakes: shareHandshakes(shareThread()),
    trust: followTrust(config.caFile),
  }
  const shares = divide(readPodSize(site.folder), config.fetchLimit)
  const turns = openTurns(shares)
  const git = openGit({
    ...network,
    acquireSession: turns.acquireSession,
    tempDir: site.folder,
    fetchLimitMiB: shares.largeLimits.fileMiB,
    deadlineSeconds: config.attemptDeadline,
    ...(process.env['PATH'] === undefined ? {} : { path: process.env['PATH'] }),
  })
  const log = makeLog('function')
  const find = finder(cluster, { reads: WAITS, waits: WAITS })
  const share = shareThread()
  const parts = {
    cluster,
    git,
    turns,
    network,
    share,
    find,
    config,
    log,
    meter: NO_METER,
    tracer: openTracer(),
  }
  const { world, close } = openWorld(parts)
  const wait = (ms: number, signal: AbortSignal): Promise<unknown> => pause(ms, undefined, { signal })
  const { elapsed, followed } = world
  const lookFor = makeWaitingSearch({ cluster, log, elapsed, wait, followed }, false)
  const searches = { sweep: () => Promise.resolve(), lookFor }
  const app = buildApp((ref) => handle(ref, find, world), log, { searches })
  return leftovers.hold(app.listen({ port: config.port, host: HOST }), async () => {
    await Promise.all([app.close(), close(), git.close()])
  })
}

/** Starts the webhook as webhook/main.ts does; its events go to `sink`, `env` overrides settings. Returns its address. */
export async function startWebhook(
  sink: string,
  { cluster, site, leftovers }: ProgramContext<Site>,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { certPEM, keyPEM } = await site.authority.issue({ names: [HOST] })
  const [certFile, keyFile] = [join(site.folder, 'tls.crt'), join(site.folder, 'tls.key')]
  await writeFile(certFile, certPEM)
  await writeFile(keyFile, keyPEM, { mode: 0o600 })
  const config = readWebhookConfig({
    PORT: '0',
    K_SINK: sink,
    TLS_CERT_FILE: certFile,
    TLS_KEY_FILE: keyFile,
    STAMP_KEY_FILE: site.stampKeyFile,
    ...env,
  })
  const webhook = await buildWebhook(config, { cluster, log: makeLog('webhook'), uuid: randomUUID })
  const port = await leftovers.hold(webhook.listen(HOST), () => webhook.drain(DRAIN_MS))
  return `https://${HOST}:${port}`
}

/** A log that writes to standard error if LOG_LEVEL is set. */
function makeLog(part: string): Logger {
  const level = process.env['LOG_LEVEL'] ?? 'silent'
  return pino({ level, base: { part } }, pino.destination({ dest: 2, sync: true }))
}
