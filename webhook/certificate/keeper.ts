import { setTimeout as pause } from 'node:timers/promises'
import type { SecretStore } from '../../functions/cluster/serving/secret-store.ts'
import type { TrustingConfiguration, WebhookTrust } from '../../functions/cluster/serving/webhook-trust.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { KeyPair, KeyPairFollower, KeyPairSource } from '../tls.ts'
import { issueCertificate } from './issue.ts'
import { nextState } from './rotation.ts'
import type { RotationTimes } from './rotation.ts'
import { bundleOf, certificatesIn, readState, writeState } from './state.ts'
import type { CertificateState } from './state.ts'

/** Times of the certificate that the webhook keeps itself. */
export interface KeeperTimes extends RotationTimes {
  readonly days: number
  /** Between two looks at the Secret. */
  readonly lookMs: number
  /** After the first trust, until an API server that has called another certificate knows of it. */
  readonly settleMs: number
}

/** For what is kept, and where. */
export interface KeeperOptions {
  readonly secret: SecretStore
  readonly trust: WebhookTrust
  /** The DNS name by which the API server calls the webhook. */
  readonly host: string
  /** The API server's time. */
  readonly now: () => Date
  /** Authorities of client certificates, read at each look; undefined: none are required. */
  readonly clientCA: () => Promise<string | undefined>
  readonly times?: KeeperTimes
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
export const KEEPER_TIMES: KeeperTimes = {
  days: 90,
  renewMs: 30 * DAY_MS,
  trustMs: 5 * MINUTE_MS,
  lookMs: MINUTE_MS,
  settleMs: 5_000,
}
/** Times that another writer may be first in one look. */
const MOST_TRIES = 10

/**
 * The serving certificate that the replicas of the webhook keep in one Secret, with an authority of its own that they make the
 * API server trust. Each replica looks at it every minute, and whoever is first renews it. `open` and the looks fail as the
 * calls of SecretStore do.
 */
export function keepCertificate(options: KeeperOptions): KeyPairSource {
  const { times = KEEPER_TIMES } = options

  async function pairOf({ current }: CertificateState): Promise<KeyPair> {
    if (current === undefined) throw overtaken()
    const ca = await options.clientCA()
    return { cert: current.cert, key: current.key, ...(ca === undefined ? {} : { ca }) }
  }

  return {
    async open() {
      const { state, hasTrusted } = await look(options, times)
      // Requests of API servers that do not know of it yet would fail.
      if (hasTrusted) await pause(times.settleMs)
      return pairOf(state)
    },
    follow: (current, follower) =>
      everyLook(times.lookMs, current, follower, async () => pairOf((await look(options, times)).state)),
  }
}

interface Looked {
  readonly state: CertificateState
  /** Whether this look has changed whom the API server trusts. */
  readonly hasTrusted: boolean
}

/** One look: writes what is due to the Secret, and then whom the API server has to trust. */
async function look(options: KeeperOptions, times: KeeperTimes): Promise<Looked> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    // In this order: what is written below over what others have written since then is refused.
    const configurations = await options.trust.read()
    const stored = await options.secret.read()
    const state = withForeign(readState(stored?.texts ?? {}), configurations)
    const next = await nextState(state, {
      now: options.now(),
      isNextTrusted: areTrusting(configurations, state.next?.authority),
      times,
      issue: () => issueCertificate({ host: options.host, now: options.now(), days: times.days }),
    })
    if (next !== undefined && (await options.secret.write(writeState(next), stored)) === undefined) continue
    const trusted = await trustIn(options.trust, configurations, bundleOf(next ?? state))
    if (trusted !== 'overtaken') return { state: next ?? state, hasTrusted: trusted === 'written' }
  }
  throw overtaken()
}

/** Before the first certificate, authorities of others are trusted: their certificates may still be served. */
function withForeign(
  state: CertificateState,
  configurations: readonly TrustingConfiguration[],
): CertificateState {
  if (state.current !== undefined || state.previous.length > 0) return state
  const foreign = configurations.flatMap(({ bundles }) => bundles.flatMap(certificatesIn))
  return { ...state, previous: [...new Set(foreign)] }
}

/** Both configurations, and each webhook in them. */
function areTrusting(
  configurations: readonly TrustingConfiguration[],
  authority: string | undefined,
): boolean {
  return (
    authority !== undefined &&
    configurations.length > 1 &&
    configurations.every(({ bundles }) => bundles.every((bundle) => bundle.includes(authority.trim())))
  )
}

async function trustIn(
  trust: WebhookTrust,
  configurations: readonly TrustingConfiguration[],
  bundle: string,
): Promise<'written' | 'known' | 'overtaken'> {
  const others = configurations.filter(({ bundles }) => bundles.some((one) => one !== bundle))
  for (const one of others) if (!(await trust.write(bundle, one))) return 'overtaken'
  return others.length > 0 ? 'written' : 'known'
}

function overtaken(): Failure {
  return new Failure(
    'Conflict',
    "The Secret of the webhook's certificate, or a webhook configuration, was changed by others many times in a row.",
  )
}

/** Calls `read` again and again, and tells the follower of each other pair, and of each other failure once. */
function everyLook(
  lookMs: number,
  current: KeyPair,
  follower: KeyPairFollower,
  read: () => Promise<KeyPair>,
): () => void {
  let served = current
  let reported = ''
  let isLooking = false
  async function check(): Promise<void> {
    try {
      const pair = await read()
      reported = ''
      if (pair.cert === served.cert && pair.ca === served.ca) return
      served = pair
      follower.changed(pair)
    } catch (error) {
      const failure =
        error instanceof Failure
          ? error
          : new Failure('Internal', 'The certificate could not be renewed.', { cause: error })
      if (failure.message === reported) return
      reported = failure.message
      follower.broken(failure)
    }
  }
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    void check().finally(() => (isLooking = false))
  }, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}
