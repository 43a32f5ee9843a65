import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout as pause } from 'node:timers/promises'
import { guardAddresses } from './net/addresses.ts'
import { atEveryAddress } from './net/every-address.ts'
import { listenWithMany } from './net/listeners.ts'
import { followTrust } from './net/trust.ts'
import type { Trust } from './net/trust.ts'
import { buildApp } from './app.ts'
import type { Searches } from './arrival/arrivals.ts'
import { makePingedSweep } from './arrival/pinged-sweep.ts'
import { makeWaitingSearch } from './arrival/waiting-resources.ts'
import { handle } from './attempt/attempt.ts'
import { measureServer } from './cluster/measured-server.ts'
import { openApiServer, apiServerEndpoint } from './cluster/api-server.ts'
import type { Cluster } from './cluster/cluster.ts'
import { connectCluster } from './cluster/connect.ts'
import { endpointsOf } from './cluster/endpoints.ts'
import type { Config } from './config.ts'
import { readConfig } from './config.ts'
import { stampKeysOf, UNSIGNED } from './domain/gate/settings.ts'
import { insecureWarning } from './domain/repository/insecure-hosts.ts'
import { FUNCTION_METRICS } from './domain/telemetry/function-metrics.ts'
import { PROGRAM_METRICS } from './domain/telemetry/program-metrics.ts'
import { startComplaint } from './domain/settings.ts'
import { finder } from './attempt/find.ts'
import type { Find } from './attempt/find.ts'
import { shareHandshakes } from './attempt/turns/thread/handshake-share.ts'
import { divide } from './attempt/turns/shares.ts'
import { watchThread } from './attempt/turns/thread/busy-thread.ts'
import { makeTogether } from './attempt/turns/thread/long-works.ts'
import { shareThread } from './attempt/turns/thread/thread-share.ts'
import { measureTurns, openTurns } from './attempt/turns/turns.ts'
import type { Sender } from './event-places.ts'
import { guardSSHLogIns } from './login/throttle/ssh-log-ins.ts'
import { openGit } from './git/git.ts'
import { loadHTTP } from './http/http.ts'
import { requirePrograms } from './git/process/required-programs.ts'
import { openWorld } from './open-world.ts'
import { fetchWarning, podMemory, readPodSize } from './pod-size.ts'
import { drain } from './telemetry/draining.ts'
import { openLog } from './telemetry/log.ts'
import { watchProcess } from './telemetry/process-figures.ts'
import { openTelemetry } from './telemetry/telemetry.ts'
import { openTraces } from './telemetry/traces.ts'
import type { World } from './world.ts'

/**
 * Together half of the connections to the API server, so that running attempts always find one; and most waits for objects that
 * are not stored yet, each of which is up to eight reads; one caller gets half of these, and one namespace alone a third. If the
 * webhook signs its events, those of others wait for the reads of others alone.
 */
const FIND_BOUNDS = { webhook: { reads: 24, waits: 186 }, anybody: { reads: 8, waits: 4 } }
const FIND_ALL = { reads: 32, waits: 190 }
/** Draining ends with the last attempt; after this many more seconds than its deadline the process exits anyway. */
const DRAIN_MARGIN_S = 15

/** The warning if the function may not read the endpoints of the API server. */
const NO_ENDPOINTS =
  'the addresses behind the Service of the API server cannot be read, so Git may be sent there: grant the function `list` on endpointslices in the namespace default'

/** Starts the function: env → Config → World → listen; drains on SIGTERM. */
async function main(): Promise<void> {
  const config = readConfig(process.env)
  requirePrograms(process.env.PATH)
  // Child processes and dumps of the environment must not contain the tokens.
  delete process.env['DEFAULT_GIT_TOKEN']
  delete process.env['OTEL_EXPORTER_OTLP_HEADERS']
  const { log, giveUp } = openLog('function', config.logLevel)
  const telemetry = openTelemetry(config.metricsPort, { ...PROGRAM_METRICS, ...FUNCTION_METRICS })
  const { meter } = telemetry
  const apiServer = measureServer(openApiServer(), meter, () => performance.now())
  const readEndpoints = endpointsOf(apiServer, ({ reason, message }) => {
    // While the API server does not answer there are no attempts either.
    if (reason === 'ReferenceForbidden') log.warn({ reason, cause: message }, NO_ENDPOINTS)
  })
  const together = makeTogether()
  const network = {
    resolve: guardAddresses({
      inCluster: config.surroundings.inCluster,
      apiServer: [...config.surroundings.apiServer, apiServerEndpoint()],
      readEndpoints,
    }),
    proxies: config.proxies,
    insecureHosts: config.insecureHosts,
    handshakes: shareHandshakes(shareThread(together)),
    trust: followTrust(config.caFile, ({ reason, message }) =>
      log.error({ reason, cause: message }, 'CA_FILE cannot be used; the previous authorities stay in use'),
    ),
  }
  const traces = await openTraces(config.traces, { meter, log, route: network })
  const { tracer } = traces
  const podSize = readPodSize(config.tempDir)
  const shares = divide(podSize, config.fetchLimit)
  const turns = openTurns(shares, watchThread())
  measureTurns(turns, meter)
  const cluster = connectCluster(apiServer)
  const git = openGit({
    ...network,
    meter,
    tempDir: config.tempDir,
    ...(process.env.PATH === undefined ? {} : { path: process.env.PATH }),
    fetchLimitMiB: shares.largeLimits.fileMiB,
    memoryMiB: shares.largeLimits.memoryMiB,
    deadlineSeconds: config.attemptDeadline,
    acquireSession: turns.acquireSession,
    acquireLarge: turns.acquireLarge,
    podMemory: podMemory(podSize),
    guardLogIn: guardSSHLogIns(config.failedLogins, () => performance.now()),
    engine: config.gitEngine,
    now: () => cluster.now(),
    handedOver: ({ url, why }) =>
      log.info({ repository: url, cause: why }, 'the git binary is used for this repository'),
  })
  const find = finders(cluster, config.stampKey !== undefined)
  const share = shareThread(together)
  const parts = { cluster, git, turns, network, share, find: find.webhook, config, log, meter, tracer }
  const { world, close } = openWorld(parts)
  const ending = new AbortController()
  const app = buildApp((ref, sender) => handle(ref, find[sender], world), log, {
    stampKeys: stampKeysOf(config),
    meter,
    searches: searchesOf(world, config, ending.signal),
    now: world.now,
  })
  const listen = listenWithMany(app)
  const address = await atEveryAddress((host) => listen({ port: config.port, host }))
  // Before the log line: a reader of the log may send SIGTERM as soon as it appears.
  process.once('SIGTERM', () => {
    log.info('draining')
    turns.close()
    ending.abort()
    void drain({
      steps: {
        'events in hand': () => Promise.all([app.close(), close()]),
        'sessions of Git': () => git.close(),
        'Events of resources': () => cluster.flushEvents(),
        'traces and metrics': () => Promise.all([traces.close(), telemetry.close()]),
      },
      mostMs: (config.attemptDeadline + DRAIN_MARGIN_S) * 1000,
      inHand: turns.inHand,
      log,
      exit(code) {
        giveUp()
        process.exit(code)
      },
    })
  })

  watchProcess(turns.inHand, log, meter)
  log.info({ address }, 'listening')
  await telemetry.listen(log)
  void readEndpoints()
  // The first request is a probe, and Knative sends an event only after its answer.
  app.server.once('request', (_request, response: ServerResponse) => {
    response.once('close', () => void warmUp(network.trust))
  })
  if (config.stampKey === undefined) log.warn(UNSIGNED)
  const warnings = [
    insecureWarning(config.insecureHosts),
    fetchWarning(config.fetchLimit, shares.largeLimits.fileMiB),
  ]
  for (const warning of warnings) if (warning !== undefined) log.warn(warning)
}

/** What events ask for that name no resource. */
function searchesOf(
  { cluster, log, elapsed, followed }: World,
  config: Config,
  ending: AbortSignal,
): Searches {
  const wait = (ms: number, signal: AbortSignal): Promise<unknown> => pause(ms, undefined, { signal })
  const parts = { cluster, log, elapsed, wait, ending }
  const [often, seldom] = [config.sweepInterval * 1000, config.sweepFullInterval * 1000]
  const intervals = { unsettled: often, full: seldom, followers: often }
  return {
    sweep: makePingedSweep(parts, intervals),
    lookFor: makeWaitingSearch({ ...parts, followed }, config.referenceScope === 'any'),
  }
}

/** How the resource of an event is found, by its sender. */
function finders(cluster: Cluster, signs: boolean): Readonly<Record<Sender, Find>> {
  // What a source tells of, the API server has told it.
  const known = finder(cluster, signs ? FIND_BOUNDS.webhook : FIND_ALL)
  return { webhook: known, source: known, anybody: signs ? finder(cluster, FIND_BOUNDS.anybody) : known }
}

/**
 * Does what the first session with a host would otherwise wait for, in pieces between which requests are answered. A
 * failure is left to that session.
 */
async function warmUp(trust: Trust): Promise<void> {
  for (const piece of [trust.context, loadHTTP]) {
    await setImmediate()
    await Promise.resolve()
      .then(piece)
      .catch(() => undefined)
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${startComplaint(error)}\n`)
  process.exitCode = 1
})
