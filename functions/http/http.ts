import { request } from 'undici'
import type { Dispatcher } from 'undici'
import { DEFAULT_PORTS } from '../domain/address.ts'
import { Failure } from '../domain/failure.ts'
import type { Fetch } from '../domain/pull-requests.ts'
import { reachOf } from '../domain/reach.ts'
import type { Destination, Ways } from '../domain/reach.ts'
import { readTrusted } from './authorities.ts'
import { openDispatcher } from './dispatcher.ts'
import { callFailure } from './failures.ts'
import type { FailedCall } from './failures.ts'

export interface HTTPSettings extends Ways {
  /** CA_FILE. */
  readonly caFile: string | undefined
}

/** Milliseconds that one call may take, within the attempt's deadline. */
const CALL_PATIENCE = 30_000
/** These have no body (Fetch standard, "null body status"). */
const BODILESS = [204, 205, 304]

/**
 * Hands `work` a `fetch` for one API, whose addresses are looked up and checked anew, and closes its connections
 * afterwards. `fetch` refuses every other origin: no credential goes anywhere else.
 * @throws Failure what `reachOf` throws, Internal where CA_FILE cannot be read; `fetch` as its type tells
 */
export async function withAPI<T>(
  baseURL: string,
  { settings, signal }: { readonly settings: HTTPSettings; readonly signal: AbortSignal },
  work: (fetch: Fetch) => Promise<T>,
): Promise<T> {
  const { origin, host: place } = new URL(baseURL)
  const reach = await reachOf(destinationOf(baseURL), settings, signal)
  const dispatcher = openDispatcher(reach, await readTrusted(settings.caFile))
  const call = { place, proxied: reach.proxy !== undefined, signal }
  try {
    return await work(fetchBy(dispatcher, origin, call))
  } finally {
    void dispatcher.destroy()
  }
}

function destinationOf(baseURL: string): Destination {
  const { protocol, hostname, port } = new URL(baseURL)
  const scheme = protocol === 'http:' ? 'http' : 'https'
  const host = hostname.replace(/[[\]]/g, '')
  return { scheme, host, port: port === '' ? DEFAULT_PORTS[scheme] : Number(port) }
}

function fetchBy(dispatcher: Dispatcher, origin: string, call: FailedCall): Fetch {
  return async function fetch(url, { method, headers, body }) {
    if (new URL(url).origin !== origin) throw elsewhere(call)
    try {
      const answer = await request(url, {
        dispatcher,
        method: methodOf(method),
        headers,
        body: body ?? null,
        signal: AbortSignal.any([call.signal, AbortSignal.timeout(CALL_PATIENCE)]),
      })
      const text = await answer.body.text()
      const { statusCode: status } = answer
      return new Response(BODILESS.includes(status) ? null : text, {
        status,
        headers: headersOf(answer.headers),
      })
    } catch (error) {
      throw callFailure(error, call)
    }
  }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

function methodOf(written: string): (typeof METHODS)[number] {
  const method = METHODS.find((known) => known === written.toUpperCase())
  if (method !== undefined) return method
  throw new Failure(
    'Internal',
    'An API was to be called by an unknown method; whoever runs Commitlet has to look.',
  )
}

function headersOf(raw: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one)
  }
  return headers
}

function elsewhere({ place }: FailedCall): Failure {
  const message = `The API at ${place} leads to another address, where credentials do not follow; look at spec.providerConfig.`
  return new Failure('ProviderUnavailable', message)
}
