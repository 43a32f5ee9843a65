import { Agent, type Dispatcher } from 'undici'
import { anySignal } from '../domain/deadline.ts'
import { DEFAULT_PORTS, unbracketed } from '../domain/repository/address.ts'
import { Failure } from '../domain/failure.ts'
import type { Fetch, FetchInit } from '../domain/pull-request/pull-requests.ts'
import { TOO_LARGE } from '../domain/pull-request/large-answer.ts'
import { findRoute } from '../domain/network/route.ts'
import type { CallShares, ReserveFor, Share } from '../domain/network/share.ts'
import type { Destination, RouteSettings } from '../domain/network/route.ts'
import { LARGEST_ANSWER, readAnswer } from './answer.ts'
import type { Trust } from '../net/trust.ts'
import { connectorTo } from './connection.ts'
import type { ConnectionTarget } from './connection.ts'
import { callFailure, timedOut, unusable } from './failures.ts'
import { forward, guardHeads, type HeadGuard } from './head-guard.ts'
import { bodyOf, bytesOf, headersFor, lengthOf, methodOf } from './request.ts'

export interface HTTPSettings extends RouteSettings {
  readonly trust: Trust
  /** Told of each call when it has ended. */
  readonly called?: ((call: EndedCall) => void) | undefined
  /** In which APIs are called, and answers parsed. Left out: at once. */
  readonly calls?: CallShares | undefined
  /** As in ThreadShares: waited for before what is urgent. Left out: there is always enough. */
  readonly reserve?: ReserveFor | undefined
  /** In which the handshakes of a session are read. Left out: at once. */
  readonly share?: Share
  /** Bytes that an answer may have. Left out: 4 MiB. */
  readonly largestAnswer?: number
  /** Told of milliseconds of the thread that a session has taken, apart from that. */
  readonly count?: (milliseconds: number) => void
}

/** What is measured of a call. */
export interface EndedCall {
  readonly method: string
  /** Undefined: there was no answer, or none that could be used. */
  readonly status: number | undefined
  readonly seconds: number
  /** Bytes of both bodies. */
  readonly sent: number
  readonly received: number
}

/**
 * Calls `work` with a `fetch` for one API, whose addresses are looked up and checked for this session, and closes its
 * connections afterwards, even in the middle of a request. `fetch` refuses every other origin, so that no credentials
 * are sent otherOrigin.
 * @throws Failure what `findRoute` throws, Internal if CA_FILE could not be used yet; `fetch` throws what its type
 * declares, and CredentialsInvalid if the credentials cannot be a header's value
 */
export type WithAPI = <T>(
  baseURL: string,
  signal: AbortSignal,
  work: (fetch: Fetch) => Promise<T>,
) => Promise<T>

/** Time limit of one call, including the connection, within the attempt's deadline. */
const CALL_TIMEOUT_MS = 30_000
/** Maximum size of all answers of one session in bytes, because the caller may keep them: twice ten usual pages. */
const LARGEST_SESSION = 16 * 1024 * 1024
/** Maximum size of a page of a list that strangers fill, and of all of them in a session: the rest is for other answers. */
const LARGEST_PAGE = 2 * 1024 * 1024
const LARGEST_LISTS = 12 * 1024 * 1024

/** Loads the HTTP client now: a bundle otherwise loads it with the first session. */
export function loadHTTP(): unknown {
  return Agent
}

/** Opens sessions with all APIs; nothing is read before the first one. */
export function openHTTP(settings: HTTPSettings, timeoutMs = CALL_TIMEOUT_MS): WithAPI {
  return async function withAPI(baseURL, signal, work) {
    const { origin, host } = new URL(baseURL)
    const destination = destinationOf(baseURL)
    const { share } = settings
    const found = await findRoute(destination, settings, signal)
    const route = share === undefined ? found : { ...found, share }
    const ending = new AbortController()
    const target = {
      destination,
      route,
      shownHost: host,
      trust: await settings.trust.context(),
      signal: anySignal([signal, ending.signal]),
    }
    const guard = guardHeads(host, settings.count)
    const agent = agentFor(target, guard, settings.count)
    try {
      const dispatcher = agent.compose(guard.interceptor)
      const { called, largestAnswer = LARGEST_ANSWER } = settings
      return await work(fetchBy({ dispatcher, origin, host, signal, timeoutMs, called, largestAnswer }))
    } finally {
      ending.abort()
      await agent.destroy()
    }
  }
}

function destinationOf(baseURL: string): Destination {
  const { protocol, hostname, port } = new URL(baseURL)
  const scheme = protocol === 'http:' ? 'http' : 'https'
  return { scheme, host: unbracketed(hostname), port: port === '' ? DEFAULT_PORTS[scheme] : Number(port) }
}

/** Milliseconds of the thread that a connection takes beside its handshake: TLS is set up, and taken down. */
const CONNECTION_MS = 0.7

function agentFor(target: ConnectionTarget, guard: HeadGuard, count: HTTPSettings['count']): Agent {
  const connect = guard.watching(connectorTo(target))
  return new Agent({
    // A pool would open a second connection for the second call if the first call has only just ended.
    connections: 1,
    connect: (...all) => {
      count?.(CONNECTION_MS)
      connect(...all)
    },
  })
}

interface Session {
  readonly dispatcher: Dispatcher
  readonly origin: string
  readonly host: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly called: HTTPSettings['called']
  readonly largestAnswer: number
}

function fetchBy({ dispatcher, origin, host, signal, timeoutMs, called, largestAnswer }: Session): Fetch {
  const takeOfAll = takeUpTo(LARGEST_SESSION, host)
  let leftForPages = LARGEST_LISTS
  return async function fetch(url, { method, headers, body, isPage = false, mayBegin, readOn }) {
    const target = new URL(url)
    if (target.origin !== origin) throw otherOrigin(host)
    const most = isPage ? Math.min(LARGEST_PAGE, leftForPages) : largestAnswer
    if (most <= 0) throw unusable('lists of more than 12 MiB, their limit in one attempt', host, TOO_LARGE)
    const began = performance.now()
    let received = 0
    let status: number | undefined
    const take = (bytes: number): void => {
      received = bytes
      if (isPage) leftForPages -= bytes
      takeOfAll(bytes)
    }
    const bounded = anySignal([signal, AbortSignal.timeout(timeoutMs)])
    try {
      const answer = await beginning(dispatcher, mayBegin, host).request({
        origin,
        path: `${target.pathname}${target.search}`,
        method: methodOf(method),
        headers: { ...headersFor(headers, host), ...lengthOf(body) },
        body: bodyOf(body),
        signal: bounded,
      })
      const read = await readAnswer(answer, { host, most, signal: bounded, take, readOn })
      status = read.status
      return read
    } catch (error) {
      throw bounded.aborted ? timedOut(host, bounded.reason) : callFailure(error, host)
    } finally {
      const sent = bytesOf(body)
      called?.({ method, status, seconds: (performance.now() - began) / 1000, sent, received })
    }
  }
}

/** The same dispatcher, which asks `mayBegin` when there is a connection and nothing is sent yet. */
function beginning(dispatcher: Dispatcher, mayBegin: FetchInit['mayBegin'], host: string): Dispatcher {
  if (mayBegin === undefined) return dispatcher
  return dispatcher.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        ...forward(handler),
        onRequestStart(controller, context) {
          handler.onRequestStart?.(controller, context)
          if (!mayBegin()) controller.abort(tooLate(host))
        },
        onResponseStart: (...all) => handler.onResponseStart?.(...all),
        onResponseEnd: (...all) => handler.onResponseEnd?.(...all),
      }),
  )
}

function tooLate(host: string): Failure {
  const message = `The time in which ${host} could be called was over before there was a connection; Commitlet retries automatically.`
  return new Failure('Timeout', message)
}

/** Returns a function that adds up numbers of bytes. It throws ProviderUnavailable above `most`. */
function takeUpTo(most: number, host: string): (bytes: number) => void {
  let taken = 0
  return function take(bytes) {
    taken += bytes
    if (taken > most) throw unusable('more than 16 MiB in all, the limit of one attempt', host)
  }
}

function otherOrigin(host: string): Failure {
  const message = `The API at ${host} points to another address, to which Commitlet does not send credentials; Commitlet retries automatically, and the administrator of that host has to check it.`
  return new Failure('ProviderUnavailable', message)
}
