import { isIP } from 'node:net'
import type { Change, ChangeDraft } from '../domain/commit/change.ts'
import type { Login } from '../domain/credentials/login.ts'
import { Failure } from '../domain/failure.ts'
import { hostKeyNames } from '../domain/network/host-keys.ts'
import { requireAPI } from '../domain/repository/target.ts'
import type { World } from '../world.ts'
import type { IssueToken } from './app-tokens.ts'
import { digestOf } from '../domain/credentials/digest.ts'
import { makeLoginThrottle } from './throttle/login-throttle.ts'
import { makeRateLimits } from './limits/rate-limits.ts'
import { makeRepositoryLimits, type LimitTerms } from './limits/repository-limits.ts'

/** What bounds the calls. */
export interface RemoteBounds extends LimitTerms {
  /** FAILED_LOGINS. */
  readonly failedLogins: number
}

interface GuardTerms {
  readonly login: Login
  readonly signal: AbortSignal
  /** See LogIn. */
  readonly shared: string | undefined
}

interface Remotes extends Pick<World, 'push' | 'find' | 'withPullRequests'> {
  readonly issueToken: IssueToken
}

/**
 * The same remotes, but a host that has asked for fewer requests at a repository, or with the same login, is not called there until
 * its time has come (repository-limits.ts), unless its user has just requested it, and log-ins that fail are bounded
 * (login-throttle.ts). The limits of APIs are in api-limits.ts. The limits of issued tokens are those of their App's installation.
 */
export function guardRemotes(remotes: Remotes, { failedLogins, ...terms }: RemoteBounds): Remotes {
  const { elapsed } = terms
  const limits = makeRepositoryLimits(terms)
  const limitsOfApps = makeRateLimits(elapsed)
  const throttle = makeLoginThrottle(failedLogins, elapsed)

  async function guarded<T>(
    change: ChangeDraft & Pick<Change, 'commitByAPI'>,
    { login, signal, shared }: GuardTerms,
    work: (signal: AbortSignal) => Promise<T>,
    proves: (result: T) => boolean,
  ): Promise<T> {
    const { namespace, repository } = change
    const { host, port } = repository
    // What the API limits does not hold up pushes.
    const by = change.commitByAPI === undefined ? [] : ['API']
    const at = digestOf(repository.text, ...by)
    const servers = login.method === 'key' ? hostKeyNames(login.hostKeys, repository) : certificateNames(host)
    const logIn = {
      namespace,
      host,
      servers,
      login: digestOf(host, port, login.identity),
      at,
      shared,
      signal,
    }
    const request = {
      namespace,
      host,
      login: digestOf(host, port, login.issued?.counted ?? login.identity, ...by),
      // Hosts ignore the case of a repository's path.
      repository: digestOf(repository.segments.map((segment) => segment.toLowerCase())),
      isRequested: change.isRequested === true,
      signal,
    }
    return limits.run(request, () => throttle.run(logIn, work, proves), proves)
  }

  // The message of a limit names the repository at which it was met, which may be another one.
  function requireWithin(key: string, host: string): void {
    try {
      limitsOfApps.check(key)
    } catch (error) {
      const after = error instanceof Failure ? error.retryAfterSeconds : undefined
      const message = `${host} has asked for fewer requests; Commitlet retries later.`
      throw new Failure('RateLimited', message, after === undefined ? {} : { retryAfterSeconds: after })
    }
  }

  return {
    push: (change, login, attempt) =>
      guarded(
        change,
        { login, signal: attempt.signal, shared: queueOf(change) },
        (signal) => remotes.push(change, login, { ...attempt, signal }),
        // Some hosts let anybody read, with a wrong login as well.
        ({ outcome }) => outcome === 'pushed',
      ),
    find: (change, login, attempt) =>
      guarded(
        change,
        { login, signal: attempt.signal, shared: undefined },
        () => remotes.find(change, login, attempt),
        () => false,
      ),
    withPullRequests(target, by, work) {
      const { host, hostname } = new URL(target.baseURL)
      const servers = certificateNames(hostname)
      const { login, namespace = '', signal } = by
      const at = digestOf(target.baseURL, target.repository)
      const own = { login: digestOf(host, login.identity), at, shared: undefined }
      const logIn = { namespace, host: hostname, servers, ...own, signal }
      return throttle.run(logIn, () => remotes.withPullRequests(target, by, work))
    },
    async issueToken(request) {
      const { app, target, namespace, signal } = request
      const { baseURL } = requireAPI(target)
      const { hostname: host } = new URL(baseURL)
      // With the key: whoever has another one cannot make the App's owner wait.
      const key = digestOf('app', baseURL, app.id, app.keyDigest)
      requireWithin(key, host)
      const own = { login: key, at: target.address.text, shared: undefined }
      const logIn = { namespace, host, servers: certificateNames(host), ...own, signal }
      return throttle
        .run(logIn, () => remotes.issueToken(request))
        .catch((error: unknown) => {
          throw terms.isOwnLimit?.(error) === true ? error : limitsOfApps.record(key, error)
        })
    },
  }
}

/**
 * What names the server of a certificate that is valid for any number of names: `*.` and what follows the first part of the
 * host's name (RFC 9525, section 6.3). None where no authority issues such a certificate.
 */
function certificateNames(host: string): readonly string[] {
  const [, ...parent] = host.split('.')
  return parent.length < 2 || isIP(host) !== 0 ? [] : [`*.${parent.join('.')}`]
}

/** Pushes of the same login with the same result wait for each other; see functions/git/group-commit/group-commit.ts. */
function queueOf({ repository, branch, commitByAPI }: Change): string {
  return digestOf(repository.text, branch ?? null, commitByAPI !== undefined)
}
