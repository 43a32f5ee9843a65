import type { AppToken, IssuedToken } from '../domain/credentials/app-login.ts'
import { anySignal, unlessAborted } from '../domain/deadline.ts'
import { Failure } from '../domain/failure.ts'
import { openFairCache } from '../domain/sharing/fair-cache.ts'
import { timeLimit } from '../net/time-limit.ts'
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
/**
 * How much longer it is asked for once nobody waits: most answers come by then, and the next attempt finds the token. Their attempts
 * have places and memory, which nobody has any more.
 */
const UNAWAITED_MS = 2_000

interface Kept {
  readonly token: AppToken
  /** In milliseconds of `elapsed`. */
  readonly until: number
}

/** A token that is asked for. */
interface Asking {
  /** Waits for it, like unlessAborted. */
  readonly awaitedBy: (request: AppTokenRequest) => Promise<AppToken>
}

/**
 * Keeps the tokens of Apps in memory until five minutes before their end: one for each private key, installation, repository
 * and kind. Who needs one while it is asked for waits for the same answer, and once nobody
 * waits any more, that ends soon. `elapsed` is in milliseconds of a clock that
 * is never set.
 */
export function keepTokens(issue: IssueToken, elapsed: () => number): World['appTokens'] {
  const kept = openFairCache<Kept>(MOST_KEPT_BYTES, ({ token }) => RECORD_BYTES + token.token.length)
  const asked = new Map<string, Asking>()

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

  function begin(asking: string, key: string, request: AppTokenRequest): Asking {
    const ending = new AbortController()
    const signal = anySignal([timeLimit(ASKING_MS), ending.signal])
    let waiting = 0
    let unawaited: NodeJS.Timeout | undefined
    const token = ask(key, { ...request, signal }).finally(() => forget())
    const begun: Asking = {
      async awaitedBy(by) {
        waiting += 1
        clearTimeout(unawaited)
        try {
          return await unlessAborted(token, by.signal, (cause) => outOfTime(by, cause))
        } finally {
          waiting -= 1
          if (waiting === 0 && asked.get(asking) === begun) unawaited = setTimeout(end, UNAWAITED_MS).unref()
        }
      },
    }
    return begun

    function forget(): void {
      clearTimeout(unawaited)
      if (asked.get(asking) === begun) asked.delete(asking)
    }
    function end(): void {
      // Whoever needs one from now on asks again.
      forget()
      ending.abort(new Error('Nobody waits for the token any more.'))
    }
  }

  return async function appTokens(request) {
    const key = keyOf(request)
    const known = kept.get(request.namespace, key)
    if (known !== undefined && known.until > elapsed()) return known.token
    // The failed log-ins of a namespace are its own.
    const asking = `${request.namespace} ${key}`
    const running = asked.get(asking) ?? begin(asking, key, request)
    asked.set(asking, running)
    return running.awaitedBy(request)
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
