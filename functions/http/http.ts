import { Agent, request } from 'undici'
import { DEFAULT_PORTS, unbracketed } from '../domain/repository/address.ts'
import { asFailure, Failure } from '../domain/failure.ts'
import type { Fetch } from '../domain/pull-request/pull-requests.ts'
import { findRoute } from '../domain/network/route.ts'
import type { Destination, RouteSettings } from '../domain/network/route.ts'
import { readAnswer } from './answer.ts'
import type { Trust } from '../net/trust.ts'
import { openConnection } from './connection.ts'
import type { Way } from './connection.ts'
import { callFailure, late, unusable } from './failures.ts'
import { headersFor, methodOf } from './request.ts'

export interface HTTPSettings extends RouteSettings {
  readonly trust: Trust
}

/**
 * Hands `work` a `fetch` for one API, whose addresses are looked up and checked anew, and closes its connections
 * afterwards, whatever they are doing. `fetch` refuses every other origin: no credential goes anywhere else.
 * @throws Failure what `reachOf` throws, Internal where CA_FILE could not be used yet; `fetch` as its type tells, and
 * CredentialsInvalid where a header cannot hold what it was given
 */
export type WithAPI = <T>(
  baseURL: string,
  signal: AbortSignal,
  work: (fetch: Fetch) => Promise<T>,
) => Promise<T>

/** Milliseconds that one call may take, connecting included, within the attempt's deadline. */
const PATIENCE = 30_000
/**
 * Most bytes of the body of an answer: a page of a list with the longest bodies in it (30 of GitHub's with 64 KiB each,
 * 20 of Bitbucket's with 32 KiB in five places) takes 2 to 4 MiB, and a usual one less than one.
 */
const LARGEST_ANSWER = 4 * 1024 * 1024
/** Most bytes of all answers of one session, which whoever calls may keep: ten usual pages, and as much again. */
const LARGEST_SESSION = 16 * 1024 * 1024

/** Makes the way to all APIs; nothing is read before it is first gone. */
export function openHTTP(settings: HTTPSettings, patience = PATIENCE): WithAPI {
  return async function withAPI(baseURL, signal, work) {
    const { origin, host: place } = new URL(baseURL)
    const destination = destinationOf(baseURL)
    const route = await findRoute(destination, settings, signal)
    const ending = new AbortController()
    const way = {
      destination,
      route,
      place,
      trust: await settings.trust.context(),
      signal: AbortSignal.any([signal, ending.signal]),
    }
    const agent = agentFor(way)
    try {
      return await work(fetchBy({ agent, origin, place, signal, patience }))
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

function agentFor(way: Way): Agent {
  return new Agent({
    // A pool would open a second one for the second call, while the first has hardly ended.
    connections: 1,
    maxResponseSize: LARGEST_ANSWER,
    connect(_options, answer) {
      openConnection(way).then(
        (socket) => answer(null, socket),
        (error: unknown) => answer(asFailure(error), null),
      )
    },
  })
}

interface Line {
  readonly agent: Agent
  readonly origin: string
  readonly place: string
  readonly signal: AbortSignal
  readonly patience: number
}

function fetchBy({ agent, origin, place, signal, patience }: Line): Fetch {
  const take = takeUpTo(LARGEST_SESSION, place)
  return async function fetch(url, { method, headers, body }) {
    if (new URL(url).origin !== origin) throw elsewhere(place)
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(patience)])
    try {
      const answer = await request(url, {
        dispatcher: agent,
        method: methodOf(method),
        headers: headersFor(headers, place),
        body: body ?? null,
        signal: bounded,
      })
      return await readAnswer(answer, place, take)
    } catch (error) {
      throw bounded.aborted ? late(place, bounded.reason) : callFailure(error, place)
    }
  }
}

/** Counts the bytes that are handed to it. Throws ProviderUnavailable above `most`. */
function takeUpTo(most: number, place: string): (bytes: number) => void {
  let taken = 0
  return function take(bytes) {
    taken += bytes
    if (taken > most) throw unusable('more than the 16 MiB that are read of its answers together', place)
  }
}

function elsewhere(place: string): Failure {
  const message = `The API at ${place} leads to another address, where credentials do not follow; it is tried again, and whoever runs that host has to look.`
  return new Failure('ProviderUnavailable', message)
}
