import type { IncomingMessage } from 'node:http'

/** The four requests of the smart HTTP protocol (git's own gitprotocol-http). */
export type Exchange = 'upload-pack-refs' | 'upload-pack' | 'receive-pack-refs' | 'receive-pack'

/** The command of a POST to upload-pack in protocol version 2. */
export type Command = 'ls-refs' | 'fetch'

/** One request to the server, as far as its first line shows. */
export interface GitCall {
  /** Name of the repository as in the URL, without a trailing `.git`. */
  readonly repository: string
  readonly exchange: Exchange
  /** The path for http-backend: that of the bare repository and the service's own part. */
  readonly pathInfo: string
  readonly query: string
}

const PATH = /^\/(?<repository>[^?]+?)(?:\.git)?\/(?<service>info\/refs|git-upload-pack|git-receive-pack)$/

/** Reads the request line; undefined for what is not a request of the smart protocol. */
export function readCall(request: IncomingMessage): GitCall | undefined {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const { repository, service } = PATH.exec(url.pathname)?.groups ?? {}
  if (repository === undefined || service === undefined) return undefined
  const exchange = exchangeOf(request.method, service, url.searchParams.get('service'))
  if (exchange === undefined) return undefined
  return { repository, exchange, pathInfo: `/${repository}.git/${service}`, query: url.search.slice(1) }
}

/** Only receive-pack changes a repository. */
export function isPush(exchange: Exchange): boolean {
  return exchange.startsWith('receive-pack')
}

/** Which command the body of a POST to upload-pack (version 2) begins with. */
export function readCommand(body: Uint8Array): Command | undefined {
  const command = /^[0-9a-f]{4}command=(?<name>ls-refs|fetch)/.exec(
    Buffer.from(body.subarray(0, 64)).toString('latin1'),
  )
  return command?.groups?.['name'] as Command | undefined
}

function exchangeOf(method: string | undefined, service: string, asked: string | null): Exchange | undefined {
  if (method === 'GET' && service === 'info/refs') {
    if (asked === 'git-upload-pack') return 'upload-pack-refs'
    return asked === 'git-receive-pack' ? 'receive-pack-refs' : undefined
  }
  if (method !== 'POST') return undefined
  if (service === 'git-upload-pack') return 'upload-pack'
  return service === 'git-receive-pack' ? 'receive-pack' : undefined
}
