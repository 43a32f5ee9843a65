import pino from 'pino'
import { guardAddresses } from './net/addresses.ts'
import { followTrust } from './net/trust.ts'
import { buildApp } from './app.ts'
import { handle } from './attempt/attempt.ts'
import { openApiServer, apiServerEndpoint } from './cluster/api-server.ts'
import { connectCluster } from './cluster/connect.ts'
import { readConfig } from './config.ts'
import { UNSIGNED } from './domain/gate/settings.ts'
import { insecureWarning } from './domain/repository/insecure-hosts.ts'
import { startComplaint } from './domain/settings.ts'
import { finder } from './attempt/find.ts'
import { openGit } from './git/git.ts'
import { requirePrograms } from './git/process/required-programs.ts'
import { openProviders } from './pull-request/provider-apis.ts'
import { makeFairSemaphore } from './attempt/fair-semaphore.ts'
import type { World } from './world.ts'

/** Most concurrent waits for objects that are not stored yet. */
const WAITS = 64
/** Most concurrent attempts: each may need 10 MiB of content and five Git processes of about 10 MB that share pages. */
const BOUNDS = {
  held: { total: 32, perNamespace: 8, perHost: 24 },
  waiting: { total: 1_000, perNamespace: 250, perHost: 750 },
}
/** Draining ends with the last attempt; after this many more seconds than its deadline the process exits anyway. */
const DRAIN_MARGIN_S = 15
/** After the last log line the process normally ends; if an open connection keeps it alive, it exits after this time. */
const END_MS = 1_000

/** Starts the function: env → Config → World → listen; drains on SIGTERM. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  requirePrograms(process.env.PATH)
  // Child processes and dumps of the environment must not contain the token.
  delete process.env['DEFAULT_GIT_TOKEN']
  const log = pino({ level: config.logLevel, base: { part: 'function' } })
  const network = {
    resolve: guardAddresses({
      inCluster: config.surroundings.inCluster,
      apiServer: [...config.surroundings.apiServer, apiServerEndpoint()],
    }),
    proxies: config.proxies,
    insecureHosts: config.insecureHosts,
    trust: followTrust(config.caFile, ({ reason, message }) =>
      log.error({ reason, cause: message }, 'CA_FILE cannot be used; the previous authorities stay in use'),
    ),
  }
  const git = openGit({
    ...network,
    tempDir: config.tempDir,
    ...(process.env.PATH === undefined ? {} : { path: process.env.PATH }),
    fetchLimitMiB: config.fetchLimit,
    deadlineSeconds: config.attemptDeadline,
  })
  const semaphore = makeFairSemaphore(BOUNDS)
  const world: World = {
    cluster: connectCluster(openApiServer()),
    push: (change, login, signal) => git.push(change, login, signal),
    find: (change, login, signal) => git.find(change, login, signal),
    withPullRequests: openProviders(network, () => Date.now()),
    acquire: semaphore.acquire,
    now: () => new Date(),
    random: Math.random,
    log,
    settings: config,
  }
  const find = finder(world.cluster, WAITS)
  const app = buildApp((ref) => handle(ref, find, world), log)
  const address = await app.listen({ port: config.port, host: '::' })
  // Before the log line: a reader of the log may send SIGTERM as soon as it appears.
  process.once('SIGTERM', () => {
    log.info('draining')
    semaphore.close()
    setTimeout(() => process.exit(1), (config.attemptDeadline + DRAIN_MARGIN_S) * 1000).unref()
    void app
      .close()
      .then(() => git.close())
      .then(() => {
        log.info('stopped')
        // An immediate exit could write this line before earlier ones that are still being written.
        setTimeout(() => process.exit(0), END_MS).unref()
      })
  })

  log.info({ address }, 'listening')
  if (config.stampKey === undefined) log.warn(UNSIGNED)
  const insecure = insecureWarning(config.insecureHosts)
  if (insecure !== undefined) log.warn(insecure)
}

main().catch((error: unknown) => {
  process.stderr.write(`${startComplaint(error)}\n`)
  process.exitCode = 1
})
