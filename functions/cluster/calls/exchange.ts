import http from 'node:http'
import https from 'node:https'
import { Failure } from '../../domain/failure.ts'
import { readBody } from '../../domain/network/read-body.ts'
import { limited } from './call-limit.ts'
import { readLines } from './read-lines.ts'

/** One request to the API server. `path` is already escaped. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  /** Bytes of the largest answer that is of use; default: 32 MiB. */
  readonly most?: number
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined
  /** A watch: its lines are handed on as they arrive, and the answer, at its end, has no text and no date. */
  readonly lines?: LineReader
}

export interface LineReader {
  readonly take: (line: string) => void
  /** Time limit of the call, in milliseconds, in place of the usual one. */
  readonly forMs: number
  readonly signal: AbortSignal
}

export interface ApiAnswer {
  readonly status: number
  readonly text: string
  /** The header Date. */
  readonly date?: string | undefined
}

/** Time limit of a call. The API server's own limit for a request is 34 s to 60 s. */
const DEADLINE_MS = 15_000
/** An object in etcd is at most 1.5 MiB; lists are read in pages; aggregated APIs may send more. */
const LARGEST_ANSWER = 32 * 1024 * 1024
/** An object and its encoding as a line. */
const LONGEST_LINE = 4 * 1024 * 1024

/**
 * Sends a call with these options, and returns the response, whatever its status. Throws a Failure as ApiServer does.
 */
export async function send(target: URL, options: https.RequestOptions, request: ApiCall): Promise<ApiAnswer> {
  const answer = await exchange(target, options, request)
  if (answer !== 'stale') return answer
  // The server may close an idle connection just as it is reused, and all others at the same time: use a new one.
  const again = await exchange(target, { ...options, agent: false }, request)
  return again === 'stale' ? Promise.reject(unreachable(undefined)) : again
}

/** Returns `stale` if a reused connection was already closed. */
async function exchange(
  target: URL,
  options: https.RequestOptions,
  request: ApiCall,
): Promise<ApiAnswer | 'stale'> {
  const { lines } = request
  const signals = [lines?.signal, request.signal].filter((one) => one !== undefined)
  const { signal, release } = limited(signals, lines?.forMs ?? DEADLINE_MS)
  try {
    return await exchangeUntil(signal, { target, options, request })
  } finally {
    release()
  }
}

/** One call, and how it is sent. */
interface Sending {
  readonly target: URL
  readonly options: https.RequestOptions
  readonly request: ApiCall
}

function exchangeUntil(
  signal: AbortSignal,
  { target, options, request }: Sending,
): Promise<ApiAnswer | 'stale'> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer | 'stale'>()
  const client = target.protocol === 'http:' ? http : https
  const outgoing = client.request(target, { ...options, method: request.method, signal })
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    const stale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    if (stale) resolve('stale')
    else reject(endOf(request) ?? unreachable(error))
  })
  // Nothing else tells of it.
  outgoing.on('upgrade', ({ statusCode: status = 0 }, socket) => {
    socket.destroy()
    resolve({ status, text: '' })
  })
  outgoing.on('response', (response) => {
    collect(response, request, signal).then(resolve, reject)
  })
  // Node adds its length.
  outgoing.end(request.body === undefined ? undefined : JSON.stringify(request.body))
  return promise
}

/** The header fields of a call; `login` has those by which the API server knows the caller. */
export function headersOf(request: ApiCall, login: Readonly<Record<string, string>>): Record<string, string> {
  const type = request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }
  return {
    ...login,
    accept: request.accept ?? 'application/json',
    'user-agent': 'commitlet',
    ...type,
  }
}

async function collect(
  response: http.IncomingMessage,
  request: ApiCall,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const { lines, most = LARGEST_ANSWER } = request
  const { statusCode: status = 0, headers } = response
  if (lines !== undefined && status === 200) {
    const bounds = { most: LONGEST_LINE, signal }
    const isRead = await readLines(response, lines.take, bounds).catch((error: unknown) => {
      response.destroy()
      throw unreachable(error)
    })
    if (isRead) return { status, text: '' }
    response.destroy()
    throw new Failure('NotSupported', 'The API server sent a line of more than 4 MiB.')
  }
  const body = await readBody(response, { most, signal }).catch((error: unknown) => {
    throw endOf(request) ?? unreachable(error)
  })
  if (typeof body !== 'string') return { status, text: body.toString(), date: headers.date }
  response.destroy()
  const message =
    body === 'too large'
      ? `The API server answered with more than ${most / 1024 / 1024} MiB; name a smaller object.`
      : 'The API server answered in too many small pieces; name another object, or ask the administrator of its API.'
  throw new Failure('NotSupported', message)
}

/** Why the caller has ended the call; undefined if that is not so. */
function endOf({ signal }: ApiCall): Failure | undefined {
  return signal?.aborted === true ? ended(signal.reason) : undefined
}

/** The Failure of a call that its signal has ended, for this reason. */
export function ended(reason: unknown): Failure {
  if (reason instanceof Failure) return reason
  const message = 'The API server did not answer in time; Commitlet retries automatically.'
  return new Failure('Timeout', message, { cause: reason })
}

function unreachable(error: unknown): Failure {
  const timedOut = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')
  if (timedOut) {
    const message = `The API server did not answer within ${DEADLINE_MS / 1000} s; Commitlet retries automatically.`
    return new Failure('Timeout', message, { cause: error })
  }
  return new Failure(
    'NetworkError',
    'The API server could not be reached; Commitlet retries automatically.',
    {
      cause: error,
    },
  )
}
