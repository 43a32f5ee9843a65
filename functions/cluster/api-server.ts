import http from 'node:http'
import https from 'node:https'
import type { Cluster } from '@kubernetes/client-node'
import { KubeConfig } from '@kubernetes/client-node'
import { Failure } from '../domain/failure.ts'
import { readBody } from '../domain/network/read-body.ts'
import { unbracketed } from '../domain/repository/address.ts'
import { WrongSetting } from '../domain/settings.ts'

/** One request to the API server. `path` is already escaped. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
}

export interface ApiAnswer {
  readonly status: number
  readonly text: string
  /** The header Date. */
  readonly date?: string | undefined
}

/**
 * Sends a call and returns the response, whatever its status. Throws NetworkError, Timeout, or NotSupported if the
 * response is too large.
 */
export type ApiServer = (call: ApiCall) => Promise<ApiAnswer>

/** Time limit of a call. The API server's own limit for a request is 34 s to 60 s. */
const DEADLINE_MS = 15_000
/** An object in etcd is at most 1.5 MiB; lists are read in pages; aggregated APIs may send more. */
const LARGEST_ANSWER = 32 * 1024 * 1024

/**
 * Finds the API server as client-node does (KUBECONFIG, else ~/.kube/config, else the pod's service account) and
 * returns a function that calls it over one pool of kept-alive connections. Certificates are read again for each call.
 * A token file is read again once client-node has remembered it for a minute, and at once where the token is refused
 * (401): the call is then sent a second time. Throws WrongSetting if there is no configuration; the program then exits.
 */
export function openApiServer(): ApiServer {
  let config = new KubeConfig()
  const { proxyUrl, server } = loadDefault(config)
  const base = new URL(server)
  const agentFor = makePool()

  async function callWith(login: KubeConfig, request: ApiCall): Promise<ApiAnswer> {
    // client-node adds headers to this object; there is no other way to get them.
    const headers: Record<string, string> = {}
    const options: https.RequestOptions = { headers }
    await login.applyToHTTPSOptions(options)
    const agent = proxyUrl ? options.agent : agentFor(base.protocol, options)
    const target = new URL(base.pathname.replace(/\/$/, '') + request.path, base)
    return send(
      target,
      { ...options, ...(agent === undefined ? {} : { agent }), headers: headersOf(request, headers) },
      request,
    )
  }

  return async function call(request) {
    const answer = await callWith(config, request)
    if (answer.status !== 401) return answer
    config = withoutCachedTokens(config)
    return callWith(config, request)
  }
}

/**
 * The host and port that `openApiServer` calls; an IPv6 address has no brackets. Throws WrongSetting as that does.
 */
export function apiServerEndpoint(): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(loadDefault(new KubeConfig()).server)
  return { host: unbracketed(hostname), port: Number(port) || (protocol === 'http:' ? 80 : 443) }
}

/** A copy of the configuration without the tokens that client-node has cached. */
function withoutCachedTokens(config: KubeConfig): KubeConfig {
  const { clusters, contexts, users, currentContext } = config
  const fresh = new KubeConfig()
  fresh.loadFromOptions({ clusters, contexts, users, currentContext })
  return fresh
}

/** The context that client-node creates if it finds no configuration: an API server on localhost:8080. */
const PLACEHOLDER_CONTEXT = 'loaded-context'

function loadDefault(config: KubeConfig): Cluster {
  try {
    config.loadFromDefault()
  } catch (cause) {
    const message =
      'KUBECONFIG cannot be read, but has to name a kubeconfig file, or be left out in a cluster.'
    throw new WrongSetting(message, { cause })
  }
  const cluster = config.getCurrentCluster()
  if (cluster !== null && config.getCurrentContext() !== PLACEHOLDER_CONTEXT) return cluster
  throw new WrongSetting('No API server is configured: set KUBECONFIG, or run in a cluster.')
}

const POOL = { keepAlive: true, maxSockets: 64 } as const

/** Returns the same agent until the authorities or the client certificate change. */
function makePool(): (protocol: string, options: https.RequestOptions) => http.Agent {
  let pooled: { readonly agent: http.Agent; readonly madeFor: string } | undefined
  return function agentFor(protocol, options) {
    const { ca, cert, key, rejectUnauthorized, servername } = options
    const madeFor = JSON.stringify([ca, cert, key, rejectUnauthorized, servername].map(String))
    if (pooled?.madeFor === madeFor) return pooled.agent
    const tls = { ca, cert, key, rejectUnauthorized, servername }
    const agent = protocol === 'http:' ? new http.Agent(POOL) : new https.Agent({ ...POOL, ...tls })
    pooled = { agent, madeFor }
    return agent
  }
}

async function send(target: URL, options: https.RequestOptions, request: ApiCall): Promise<ApiAnswer> {
  const answer = await exchange(target, options, request)
  if (answer !== 'stale') return answer
  // The server may close an idle connection just as it is reused, and all others at the same time: use a new one.
  const again = await exchange(target, { ...options, agent: false }, request)
  return again === 'stale' ? Promise.reject(unreachable(undefined)) : again
}

/** Returns `stale` if a reused connection was already closed. */
function exchange(
  target: URL,
  options: https.RequestOptions,
  request: ApiCall,
): Promise<ApiAnswer | 'stale'> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer | 'stale'>()
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const client = target.protocol === 'http:' ? http : https
  const outgoing = client.request(target, { ...options, method: request.method, signal })
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    const stale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    if (stale) resolve('stale')
    else reject(unreachable(error))
  })
  outgoing.on('response', (response) => {
    collect(response, signal).then(resolve, reject)
  })
  outgoing.end(bodyText(request))
  return promise
}

function headersOf(request: ApiCall, login: Readonly<Record<string, string>>): Record<string, string> {
  const body = bodyText(request)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const type = body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }
  return {
    ...login,
    accept: request.accept ?? 'application/json',
    'user-agent': 'commitlet',
    ...type,
    ...length,
  }
}

function bodyText(request: ApiCall): string | undefined {
  return request.body === undefined ? undefined : JSON.stringify(request.body)
}

async function collect(response: http.IncomingMessage, signal: AbortSignal): Promise<ApiAnswer> {
  const body = await readBody(response, { most: LARGEST_ANSWER, signal }).catch((error: unknown) => {
    throw unreachable(error)
  })
  const { statusCode: status = 0, headers } = response
  if (typeof body !== 'string') return { status, text: body.toString(), date: headers.date }
  response.destroy()
  const message =
    body === 'too large'
      ? 'The API server answered with more than 32 MiB; name a smaller object.'
      : 'The API server answered in too many small pieces; name another object, or ask the administrator of its API.'
  throw new Failure('NotSupported', message)
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
