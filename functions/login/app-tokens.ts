import type { AppToken, IssuedToken } from '../domain/credentials/app-login.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { Failure } from '../domain/failure.ts'
import { openFairCache } from '../domain/sharing/fair-cache.ts'
import type { AppTokenRequest, World } from '../world.ts'
import { digestOf } from '../domain/credentials/digest.ts'

/** Asks a host for a token. Fails with a Failure if the host issues none. */
export type IssueToken = (request: AppTokenRequest) => Promise<IssuedToken>

/** A token is replaced so long before its end, which is longer than most attempts take. */
const MARGIN_S = 300
/** GitHub's tokens are valid for an hour; what says that it lasts longer is not believed. */
const LONGEST_S = 3_600
/** What tokens may have together: 5,000 of a usual size. Beyond that the namespace that has the most of it loses one. */
const MOST_KEPT_BYTES = 5_000 * 600
/** What one takes besides its text. */
const RECORD_BYTES = 500
/** Time limit of asking for a token, for all who wait for it. */
const ASKING_MS = 30_000

interface Kept {
  readonly token: AppToken
  /** In milliseconds of `elapsed`. */
  readonly until: number
}

/**
 * Keeps the tokens of Apps in memory until five minutes before their end: one for each private key, installation, repository
 * and kind. Who needs one while it is asked for waits for the same answer. `elapsed` is in milliseconds of a clock that
 * is never set.
 */
export function keepTokens(issue: IssueToken, elapsed: () => number): World['appTokens'] {
  const kept = openFairCache<Kept>(MOST_KEPT_BYTES, ({ token }) => RECORD_BYTES + token.token.length)
  const asked = new Map<string, Promise<AppToken>>()

  async function ask(key: string, request: AppTokenRequest): Promise<AppToken> {
    const began = elapsed()
    const { token, installation, seconds } = await issue(request)
    const issued: Kept = {
      until: began + (Math.min(seconds, LONGEST_S) - MARGIN_S) * 1_000,
      token: {
        token,
        counted: digestOf([request.target.baseURL, request.app.id, installation]),
        forget: () => kept.forget(key, issued),
      },
    }
    if (issued.until > elapsed()) kept.set(request.namespace, key, issued)
    return issued.token
  }

  return async function appTokens(request) {
    const key = keyOf(request)
    const known = kept.get(request.namespace, key)
    if (known !== undefined && known.until > elapsed()) return known.token
    // The failed log-ins of a namespace are its own.
    const asking = `${request.namespace} ${key}`
    const running =
      asked.get(asking) ??
      ask(key, { ...request, signal: AbortSignal.timeout(ASKING_MS) }).finally(() => asked.delete(asking))
    asked.set(asking, running)
    return unlessAborted(running, request.signal, (cause) => outOfTime(request, cause))
  }
}

// Hosts ignore the case of a repository's path.
function keyOf({ app, target, kind }: AppTokenRequest): string {
  const repository = target.repository.map((segment) => segment.toLowerCase())
  return digestOf(target.baseURL, app.id, app.keyDigest, app.installation, repository, kind)
}

function outOfTime({ target }: AppTokenRequest, cause: unknown): Failure {
  const message = `The attempt ran out of time before the API had issued a token for ${target.address.text}; Commitlet retries automatically.`
  return new Failure('Timeout', message, { cause })
}
