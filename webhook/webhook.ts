import type { Logger } from 'pino'
import type { Cluster } from '../functions/cluster/cluster.ts'
import { appliedEvent } from '../functions/domain/event/applied-event.ts'
import { UNSIGNED } from '../functions/domain/gate/settings.ts'
import { insecureWarning } from '../functions/domain/repository/insecure-hosts.ts'
import { errorLogFields } from '../functions/domain/error-log-fields.ts'
import type { Admission } from './admission/admission.ts'
import { isAnnounced, mutate, validate } from './admission/admission.ts'
import type { Edge } from './app.ts'
import { buildApp } from './app.ts'
import type { WebhookConfig } from './config.ts'
import { rememberForbidden } from './admission/forbidden-secrets.ts'
import type { AdmissionRequest, Verdict } from './admission/review.ts'
import type { Sink } from './delivery/sink.ts'
import { openSink } from './delivery/sink.ts'
import { startSweeps } from './delivery/sweep.ts'
import { followKeyPair, readKeyPair } from './tls.ts'

/**
 * After SIGTERM, once the reviews in flight are answered, the events under way get so many milliseconds:
 * terminationGracePeriodSeconds of the Deployment leaves room for both.
 */
export const DRAIN_MS = 20_000

/** What the webhook sees of the outside. `uuid` gives each event its id. */
export interface WebhookWorld {
  readonly cluster: Pick<
    Cluster,
    'discover' | 'reviewAccess' | 'readSecret' | 'listUnsettled' | 'listAll' | 'readResource'
  >
  readonly log: Logger
  readonly uuid: () => string
}

/** The whole webhook: admission, sink and sweeps. Not listening yet. */
export interface Webhook {
  /** Listens, starts the sweeps and follows the certificate. Answers the port. */
  readonly listen: (host: string) => Promise<number>
  /** Not ready any more, finishes what is in flight, sends what waits (at most 20 s), and lets go of all. */
  readonly drain: (deadlineMs?: number) => Promise<void>
}

/**
 * Puts the webhook together over any Cluster. Throws CredentialsInvalid where the certificate cannot serve.
 */
export async function buildWebhook(config: WebhookConfig, world: WebhookWorld): Promise<Webhook> {
  const { cluster, log } = world
  const sink = config.sink === undefined ? undefined : openSink(config.sink, log)
  const pair = await readKeyPair(config.tls)
  const intervals = { unsettledMs: config.sweepInterval * 1000, fullMs: config.sweepFullInterval * 1000 }
  let draining = false
  const readSecret = rememberForbidden((...of) => cluster.readSecret(...of), Date.now)
  const admission = {
    cluster: { ...cluster, readSecret },
    settings: config,
    requesterExtra: config.requesterExtra,
    log,
  }
  const app = buildApp(edgeOf(admission, world, { sink, isDraining: () => draining }), pair)
  const ending: (() => unknown)[] = []

  async function listen(host: string): Promise<number> {
    const address = await app.listen({ host, port: config.port })
    const unfollow = followKeyPair(config.tls, pair, {
      changed: (next) => {
        app.server.setSecureContext({ ...next })
        log.info('a new certificate is served')
      },
      broken: (failure) =>
        log.error({ reason: failure.reason, cause: failure.message }, 'the old certificate stays'),
    })
    ending.push(unfollow)
    if (config.stampKey === undefined) log.warn(UNSIGNED)
    const insecure = insecureWarning(config.insecureHosts)
    if (insecure !== undefined) log.warn(insecure)
    if (sink === undefined) log.warn('K_SINK is not set: resources are admitted, and nobody is told')
    else ending.push(startSweeps({ cluster, sink, log }, intervals))
    return Number(new URL(address).port)
  }

  async function drain(deadlineMs = DRAIN_MS): Promise<void> {
    draining = true
    await Promise.all([app.close(), ...ending.map((end) => end())])
    await sink?.drain(deadlineMs)
  }

  return { listen, drain }
}

interface Ending {
  readonly sink: Sink | undefined
  readonly isDraining: () => boolean
}

function edgeOf(admission: Admission, { log, uuid }: WebhookWorld, { sink, isDraining }: Ending): Edge {
  const answered = (request: AdmissionRequest, verdict: Verdict): void => {
    if (sink === undefined || !isAnnounced(request, verdict)) return
    try {
      sink.send(appliedEvent(request.object, uuid()))
    } catch (error) {
      log.error(
        { origin: errorLogFields(error) },
        'an admitted resource could not be announced; a sweep will find it',
      )
    }
  }
  return {
    mutate: (request) => mutate(request, admission),
    validate: (request) => validate(request, admission),
    answered,
    isDraining,
    log,
  }
}
