import { basicAuthorization, type PasswordLogin } from '../../../domain/credentials/login.ts'
import { Failure } from '../../../domain/failure.ts'
import { retryAfterOf } from '../../../domain/network/retry-after.ts'
import type { RepositoryAddress } from '../../../domain/repository/address.ts'
import type { BodyBounds } from '../../../http/bounded-body.ts'
import type { KeptAnswer, KeptConnection } from '../../../http/kept-connection.ts'
import { headersFor } from '../../../http/request.ts'
import { afterPush, failureOf, statusFailure } from '../../output/classify.ts'
import { NOT_GIT, TOO_MANY_WORDS, type ErrorContext } from '../../output/error-meaning.ts'
import { redirectMeaning } from '../../output/http-status-errors.ts'
import { redirectAddress } from '../../output/moved.ts'
import { stopIfAborted } from '../../process/launcher.ts'
import { readUnborn } from '../../protocol/capabilities.ts'
import { AGENT } from '../../protocol/command.ts'
import { pushCommand } from '../../protocol/receive-pack.ts'
import { shortReport } from '../../protocol/short-report.ts'
import { REPORT_BYTES, tooLong, type Delivery, type Channel } from './channel.ts'

/** What a channel over HTTPS is made of. */
export interface HTTPSParts {
  readonly connection: KeptConnection
  readonly address: RepositoryAddress
  readonly login: PasswordLogin
  readonly context: ErrorContext
  /** Takes bytes of the memory that all sessions share. */
  readonly take: BodyBounds['take']
  readonly signal: AbortSignal
}

/**
 * The smart HTTP protocol (gitprotocol-http(5)) on one connection. The login is in a header of each request, goes to
 * this repository only, and follows no redirect. Neither program is asked for its capabilities first: version 2 is
 * stated in the request, and receive-pack takes a push that begins without its list of refs.
 */
export function openHTTPSChannel(parts: HTTPSParts): Channel {
  const { connection, address, login, context, take, signal } = parts
  const path = pathOf(address)
  const timeoutMs = context.deadlineSeconds * 1000
  const common = { authorization: basicAuthorization(login), 'user-agent': AGENT }

  function post(
    program: GitProgram,
    body: readonly Uint8Array[],
    bounds: BodyBounds & { readonly mayBegin?: () => boolean },
  ): Promise<KeptAnswer> {
    const own = {
      ...common,
      ...(program === 'git-upload-pack' ? VERSION_2 : {}),
      accept: `application/x-${program}-result`,
      'content-type': `application/x-${program}-request`,
    }
    const { mayBegin, ...bodyBounds } = bounds
    const request = { path: `${path}/${program}`, headers: headersFor(own, context.url), body, mayBegin }
    return connection.send({ method: 'POST', timeoutMs, ...request }, bodyBounds)
  }

  /** The first request of the usual order. */
  function getCapabilities(): Promise<KeptAnswer> {
    const headers = headersFor({ ...common, ...VERSION_2 }, context.url)
    const refs = { method: 'GET', path: `${path}/info/refs?service=git-upload-pack`, headers } as const
    return connection.send({ ...refs, timeoutMs }, { most: REPORT_BYTES, take })
  }

  // Some hosts redirect a repository that has moved at that request only.
  async function lookAgain(): Promise<Failure> {
    const answer = await getCapabilities()
    answer.body?.release()
    if (answer.status < 300) throw new Error('it does not know the requests of the smart protocol')
    return failureFor(answer, context)
  }

  return {
    async ask({ command, most, shorten }, read) {
      const answer = await post('git-upload-pack', [command], { most, take, shorten })
      const { status, body } = answer
      try {
        if (status === 404) throw await lookAgain()
        if (isCertain(status)) throw failureFor(answer, context)
        if (status !== 200) throw new Error(`it answers ${status} to protocol version 2`)
        if (!isFrom('git-upload-pack', answer)) throw new Error('it does not answer as git-upload-pack')
        if (body === undefined) throw tooLong({ most })
        return await read(body.bytes)
      } finally {
        body?.release()
      }
    },
    async tellsUnborn() {
      const answer = await getCapabilities()
      const { status, body } = answer
      try {
        if (isCertain(status)) throw failureFor(answer, context)
        return status === 200 && body !== undefined && readUnborn(body.bytes)
      } finally {
        body?.release()
      }
    },
    async push(update, pack, mayBegin) {
      stopIfAborted(signal)
      const push = { mayBegin: true }
      const ask = (): boolean => (push.mayBegin = mayBegin())
      try {
        const body = [pushCommand(update), ...pack]
        return deliveryOf(
          await post('git-receive-pack', body, { ...REPORT_BOUNDS, shorten: shortReport(), mayBegin: ask }),
          context,
        )
      } catch (error) {
        stopIfAborted(signal)
        if (!push.mayBegin) return { kind: 'stale' }
        if (error instanceof Failure) return { kind: 'lost', failure: error }
        throw error
      }
    },
    async askToPush() {
      const headers = headersFor(common, context.url)
      const refs = { method: 'GET', path: `${path}/info/refs?service=git-receive-pack`, headers } as const
      const answer = await connection.send({ ...refs, timeoutMs }, { most: REFS_BYTES, take })
      answer.body?.release()
      if (answer.status !== 200) throw failureFor(answer, context)
      if (answer.header('content-type') !== 'application/x-git-receive-pack-advertisement')
        throw new Error('it does not answer as git-receive-pack')
    },
    close: () => connection.close(),
  }
}

/** Without a budget: nobody would know whether the push has landed. */
const REPORT_BOUNDS: BodyBounds = { most: REPORT_BYTES, take: () => () => undefined }

/** More than receive-pack lists; what it lists is not read. */
const REFS_BYTES = 32 * 1024 * 1024

type GitProgram = 'git-upload-pack' | 'git-receive-pack'

const VERSION_2 = { 'git-protocol': 'version=2' } as const

/** The path as it was checked: a URL would write some characters in another way. */
function pathOf({ text }: RepositoryAddress): string {
  return text.slice(text.indexOf('/', text.indexOf('://') + 3))
}

/** Whether the meaning of the status does not depend on the request. */
function isCertain(status: number): boolean {
  return [401, 403, 408, 410, 429].includes(status) || (status >= 300 && status < 400) || status >= 500
}

function isFrom(program: GitProgram, answer: KeptAnswer): boolean {
  return answer.header('content-type') === `application/x-${program}-result`
}

function deliveryOf(answer: KeptAnswer, context: ErrorContext): Delivery {
  const { status, body } = answer
  body?.release()
  if (status === 200 && isFrom('git-receive-pack', answer))
    return body === undefined
      ? { kind: 'lost', failure: failureOf(TOO_MANY_WORDS, context) }
      : { kind: 'answered', answer: body.bytes, words: '' }
  if (status < 300) {
    const failure = failureOf({ reason: 'RepositoryNotFound', sentence: NOT_GIT }, context)
    return { kind: 'lost', failure: afterPush(failure) }
  }
  // A gateway may give up on a server that carries on.
  const failure = failureFor(answer, context)
  if (status === 408 || status >= 500) return { kind: 'lost', failure }
  const refused = { kind: 'refused', failure, each: failure.reason === 'PushRejected' } as const
  // All else a gateway may have found in some of the commits: many answer 403 then.
  const isOfLogin = status === 401 || failure.reason === 'RateLimited'
  return isOfLogin ? { ...refused, unread: true } : { ...refused, said: true }
}

function failureFor({ status, header }: KeptAnswer, context: ErrorContext): Failure {
  const location = header('location')
  if (status >= 300 && status < 400 && location !== undefined)
    return failureOf(redirectMeaning(redirectAddress(location, context)), context)
  const headers = { retryAfter: header('retry-after'), date: header('date') }
  return statusFailure(status, context, retryAfterOf(headers, Date.now()))
}
