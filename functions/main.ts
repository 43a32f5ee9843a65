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

/** Waits for objects that are not stored yet, at once. */
const WAITS = 64
/** Attempts at once: each may hold 10 MiB of content and five Git processes of some 10 MB that share pages. */
const BOUNDS = {
  held: { total: 32, perNamespace: 8, perHost: 24 },
  waiting: { total: 1_000, perNamespace: 250, perHost: 750 },
}
/** Draining ends by itself when the last attempt has; this is for what hangs all the same. */
const DRAIN_MARGIN_S = 15
/** After the last line the process ends by itself; a connection that still holds it gets so many milliseconds. */
const END_MS = 1_000

/** Starts the function: env → Config → World → listen; drains on SIGTERM. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  requirePrograms(process.env.PATH)
  // A child process, or a dump of the environment, has no business with it.
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
      log.error({ reason, cause: message }, 'the old authorities of CA_FILE stay'),
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
  // Before the line that says so: whoever reads it may send SIGTERM at once.
  process.once('SIGTERM', () => {
    log.info('draining')
    semaphore.close()
    setTimeout(() => process.exit(1), (config.attemptDeadline + DRAIN_MARGIN_S) * 1000).unref()
    void app
      .close()
      .then(() => git.close())
      .then(() => {
        log.info('stopped')
        // An exit at once writes this line while an earlier one is still being written, and so before it.
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
