import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Cluster } from '../functions/cluster/cluster.ts'
import type { Changes } from '../functions/cluster/sweep/changes.ts'
import type { Followers } from '../functions/cluster/sweep/followers.ts'
import type { LeaseStore } from '../functions/cluster/sweep/lease.ts'
import { NO_METER } from '../functions/domain/telemetry/meter.ts'
import type { Meter } from '../functions/domain/telemetry/meter.ts'
import { UNSIGNED } from '../functions/domain/gate/settings.ts'
import { insecureWarning } from '../functions/domain/repository/insecure-hosts.ts'
import { NO_TRACER, type Tracer } from '../functions/domain/telemetry/tracer.ts'
import { listenWithMany } from '../functions/net/listeners.ts'
import { buildApp } from './app.ts'
import type { WebhookConfig } from './config.ts'
import { edgeOf } from './edge.ts'
import { rememberForbidden } from './admission/forbidden-secrets.ts'
import type { AdmissionRequest } from './admission/review.ts'
import { shareReviews } from './admission/review-share.ts'
import { shareThread } from './admission/thread-turns.ts'
import { openSink } from './delivery/sink.ts'
import { SINK_LIMITS } from './delivery/sink-limits.ts'
import { startSweeps } from './delivery/sweep.ts'
import type { SweepTurn } from './delivery/sweep-turn.ts'
import { takeTurns } from './delivery/sweep-turn.ts'
import { WEBHOOK_METRICS } from './metrics.ts'
import { expiryOf, keyPairIn, servedWith } from './tls.ts'
import type { KeyPairSource } from './tls.ts'

/** After SIGTERM and the last response to a review, the events in flight have this many milliseconds. */
export const DRAIN_MS = 20_000
/** After SIGTERM the process ends after this many milliseconds, whatever is left: terminationGracePeriodSeconds of the Deployment is longer. */
export const END_MS = 33_000

/** Everything outside the process that the webhook uses. `uuid` creates the id of an event. */
export interface WebhookWorld {
  readonly cluster: Pick<
    Cluster,
    'discover' | 'now' | 'reviewAccess' | 'readSecret' | 'listPage' | 'listUnsettled' | 'readResource'
  >
  readonly log: Logger
  readonly uuid: () => string
  /** Default: nothing is measured. */
  readonly meter?: Meter
  /** By which the replicas sweep in turn; default: each sweeps. */
  readonly lease?: LeaseStore | undefined
  /** Default: each full sweep lists everything. */
  readonly changes?: Changes
  /** Default: the files of the settings. */
  readonly keyPairs?: KeyPairSource | undefined
  /** Default: each sweep for followers lists them. */
  readonly followers?: Followers
  /** Default: nothing is traced. */
  readonly tracer?: Tracer
}

/** The whole webhook: admission, sink and sweeps. Not listening yet. */
export interface Webhook {
  /** Listens, starts the sweeps and follows the certificate. Returns the port. */
  readonly listen: (host: string) => Promise<number>
  /** Reports not ready, finishes reviews in flight, sends waiting events (for at most 20 s), and closes everything. */
  readonly drain: (deadlineMs?: number) => Promise<void>
  /** The reviews that are being decided. */
  readonly inHand: () => readonly string[]
}

/**
 * Builds the webhook on any Cluster. Throws CredentialsInvalid if the certificate cannot be used.
 */
export async function buildWebhook(config: WebhookConfig, world: WebhookWorld): Promise<Webhook> {
  const { cluster, log, meter = NO_METER, tracer = NO_TRACER, lease, changes, followers } = world
  const { keyPairs = keyPairIn(config.tls) } = world
  const target = config.sink && { ...config.sink, stampKey: config.stampKey, now: () => cluster.now() }
  const sink = target && openSink(target, log, SINK_LIMITS, { meter, tracer })
  const pair = await keyPairs.open()
  meter.record(WEBHOOK_METRICS.certificateExpiry, expiryOf(pair), {})
  const intervals = { unsettledMs: config.sweepInterval * 1000, fullMs: config.sweepFullInterval * 1000 }
  let draining = false
  const readSecret = rememberForbidden(
    (...of) => cluster.readSecret(...of),
    () => performance.now(),
  )
  const admission = {
    cluster: { ...cluster, readSecret },
    settings: config,
    reviewShare: shareReviews(),
    inTurn: shareThread(() => performance.now()),
    requesterExtra: config.requesterExtra,
    log,
    now: () => cluster.now(),
  }
  const reviews = new Set<AdmissionRequest>()
  const edge = edgeOf(admission, { ...world, sink, isDraining: () => draining, reviews })
  const app = buildApp(edge, pair)
  const listenAt = listenWithMany(app)
  const stopFunctions: (() => unknown)[] = []

  async function listen(host: string): Promise<number> {
    const address = await listenAt({ host, port: config.port })
    const stopFollowing = keyPairs.follow(pair, {
      changed: (next) => {
        app.server.setSecureContext(servedWith(next))
        meter.record(WEBHOOK_METRICS.certificateExpiry, expiryOf(next), {})
        log.info('a new certificate is served')
      },
      broken: (failure) =>
        log.error({ reason: failure.reason, cause: failure.message }, 'the old certificate stays in use'),
    })
    stopFunctions.push(stopFollowing)
    if (config.stampKey === undefined) log.warn(UNSIGNED)
    const insecure = insecureWarning(config.insecureHosts)
    if (insecure !== undefined) log.warn(insecure)
    if (sink === undefined) log.warn('K_SINK is not set: resources are admitted, but no events are sent')
    else {
      const parts = { cluster, sink, log, turn: turnOf(), changes, followers }
      stopFunctions.push(startSweeps(parts, intervals, meter))
    }
    return Number(new URL(address).port)
  }

  function turnOf(): SweepTurn | undefined {
    if (lease === undefined || intervals.unsettledMs + intervals.fullMs === 0) return undefined
    const identity = `${hostname()}_${randomUUID()}`
    const now = (): Date => cluster.now()
    return takeTurns({ lease, identity, log, elapsed: () => performance.now(), now })
  }

  async function drain(deadlineMs = DRAIN_MS): Promise<void> {
    draining = true
    await Promise.all([app.close(), ...stopFunctions.map((stop) => stop())])
    await sink?.drain(deadlineMs)
  }

  return { listen, drain, inHand: () => [...reviews].map(nameOf) }
}

function nameOf({ operation, kind, namespace, name }: AdmissionRequest): string {
  return `${operation} ${kind} ${namespace}/${name}`
}
