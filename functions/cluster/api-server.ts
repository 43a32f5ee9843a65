import http from 'node:http'
import https from 'node:https'
import type { Cluster } from '@kubernetes/client-node'
import { KubeConfig } from '@kubernetes/client-node'
import { unbracketed } from '../domain/repository/address.ts'
import { fewInATurn } from '../domain/sharing/semaphores/few-in-a-turn.ts'
import { WrongSetting } from '../domain/settings.ts'
import type { ApiAnswer, ApiCall } from './calls/exchange.ts'
import { headersOf, send } from './calls/exchange.ts'
import { isOwnPath } from './calls/own-paths.ts'

export type { ApiAnswer, ApiCall } from './calls/exchange.ts'

/**
 * Sends a call and returns the response, whatever its status. Throws NetworkError, Timeout, or NotSupported if the
 * response is too large.
 */
export type ApiServer = (call: ApiCall) => Promise<ApiAnswer>

/** Which cluster of which kubeconfig; left out: as client-node finds them. */
export interface ApiChoice {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
}

/**
 * Calls that begin in a turn of the event loop: each takes the thread some 0.3 ms, and a push of 500 commits that has ended has as
 * many results to be written.
 */
const IN_A_TURN = 16

/**
 * Finds the API server as client-node does (KUBECONFIG, else ~/.kube/config, else the pod's service account), or the one that
 * is chosen, and returns a function that calls it over kept-alive connections: 64, and as many more for calls that it may pass
 * on to another API, which may hang. Certificates are read again for each call. A token file is read again once client-node has
 * remembered it for a minute, and at once where the token is refused (401): the call is then sent a second time. Throws
 * WrongSetting if there is no configuration, or one that sends tokens without TLS; the program then exits.
 */
export function openApiServer(choice: ApiChoice = {}): ApiServer {
  let config = new KubeConfig()
  const { proxyUrl, server } = loadDefault(config, choice)
  const base = new URL(server)
  const [own, passedOn] = [makePool(), makePool()]
  const begin = fewInATurn(IN_A_TURN, setImmediate)

  async function callWith(login: KubeConfig, request: ApiCall): Promise<ApiAnswer> {
    // client-node adds headers to this object; there is no other way to get them.
    const headers: Record<string, string> = {}
    const options: https.RequestOptions = { headers }
    await new Promise<void>(begin)
    await login.applyToHTTPSOptions(options)
    const agentFor = isOwnPath(request.path) ? own : passedOn
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

/**
 * The namespace of the pod, or that of the kubeconfig's context; undefined if there is none. Throws WrongSetting as
 * `openApiServer` does.
 */
export function ownNamespace(choice: ApiChoice = {}): string | undefined {
  const config = new KubeConfig()
  loadDefault(config, choice)
  return config.getContextObject(config.getCurrentContext())?.namespace
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

function loadDefault(config: KubeConfig, { kubeconfig, context }: ApiChoice = {}): Cluster {
  try {
    if (kubeconfig === undefined) config.loadFromDefault()
    else config.loadFromFile(kubeconfig)
  } catch (cause) {
    const message =
      kubeconfig === undefined
        ? 'KUBECONFIG cannot be read, but has to name a kubeconfig file, or be left out in a cluster.'
        : `--kubeconfig is "${kubeconfig}", but has to be the path of a kubeconfig file.`
    throw new WrongSetting(message, { cause })
  }
  if (context !== undefined && config.getContextObject(context) === null)
    throw new WrongSetting(`--context is "${context}", but the kubeconfig has no such context.`)
  if (context !== undefined) config.setCurrentContext(context)
  const cluster = config.getCurrentCluster()
  if (cluster === null || config.getCurrentContext() === PLACEHOLDER_CONTEXT)
    throw new WrongSetting('No API server is configured: set KUBECONFIG, or run in a cluster.')
  // Otherwise client-node throws an error at the first call.
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify) throw withoutTLS(cluster.name)
  return cluster
}

function withoutTLS(cluster: string): WrongSetting {
  return new WrongSetting(
    `The server of the cluster "${cluster}" in the kubeconfig begins with http://, but has to begin with https://; for one without TLS, such as kubectl proxy, set insecure-skip-tls-verify: true there.`,
  )
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
