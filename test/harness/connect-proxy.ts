import { createServer as createPlainServer, type IncomingMessage, type Server } from 'node:http'
import { createServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Certificate } from './certificates.ts'

export interface ProxyOptions {
  /** Uses TLS with this certificate. */
  readonly certificate?: Certificate
  /** `user:password` that clients have to show. */
  readonly login?: string
  /** Answers every CONNECT with this status. */
  readonly status?: number
  /** Ports to connect to instead, by `host:port`. */
  readonly leads?: Readonly<Record<string, number>>
}

/** A real proxy on 127.0.0.1 for CONNECT (RFC 9110, 9.3.6); it connects every name to 127.0.0.1. */
export interface ConnectProxy {
  readonly port: number
  /** `host:port` of each CONNECT, in the order of arrival. */
  readonly connects: string[]
  /** Heads of all requests, with the values of all headers. */
  readonly heads: string[]
  close(): Promise<void>
}

/** Starts the proxy. */
export async function startProxy(options: ProxyOptions = {}): Promise<ConnectProxy> {
  const { certificate } = options
  const server: Server =
    certificate === undefined
      ? createPlainServer()
      : createServer({ cert: certificate.certPEM, key: certificate.keyPEM })
  const [connects, heads]: [string[], string[]] = [[], []]
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
  })
  server.on('request', (request, response) => {
    heads.push(headOf(request))
    response.writeHead(501).end()
  })
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    heads.push(headOf(request))
    connects.push(request.url ?? '')
    client.on('error', () => client.destroy())
    const refusal = refusalOf(options, request)
    if (refusal !== undefined) {
      client.end(`HTTP/1.1 ${refusal} No\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const asked = request.url ?? ''
    const remote = connect(options.leads?.[asked] ?? Number(asked.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      remote.pipe(client).pipe(remote)
    })
    sockets.add(remote)
    remote.on('error', () => client.end('HTTP/1.1 502 Bad gateway\r\ncontent-length: 0\r\n\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connects,
    heads,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function refusalOf({ login, status }: ProxyOptions, request: IncomingMessage): number | undefined {
  const [, pair = ''] = request.headers['proxy-authorization']?.split(' ') ?? []
  if (login !== undefined && Buffer.from(pair, 'base64').toString() !== login) return 407
  return status
}

function headOf({ method = '', url = '', rawHeaders }: IncomingMessage): string {
  return [method, url, ...rawHeaders].join(' ')
}
