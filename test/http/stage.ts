import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { createServer as createRawServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { FetchInit } from '../../functions/domain/pull-request/pull-requests.ts'
import { openHTTP } from '../../functions/http/http.ts'
import type { HTTPSettings } from '../../functions/http/http.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { makeAuthority } from '../harness/certificates.ts'
import type { CertificateRequest } from '../harness/certificates.ts'

/** Issues the certificates of the servers of these tests; its own is at CA_FILE. */
export const AUTHORITY = await makeAuthority()
const FOLDER = mkdtempSync(join(tmpdir(), 'commitlet-http-'))
t.teardown(() => rmSync(FOLDER, { recursive: true }))
export const CA_FILE = join(FOLDER, 'ca.pem')
writeFileSync(CA_FILE, AUTHORITY.certPEM)

/** A server on 127.0.0.1, and the requests that it got. */
export interface Place {
  readonly port: number
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>
  /** Every connection that ever was. */
  readonly connections: readonly Socket[]
}

/** An https server, for localhost and git.example.com unless the request says otherwise. */
export async function serve(
  t: Test,
  listener: RequestListener,
  more: Partial<CertificateRequest> & { readonly by?: typeof AUTHORITY } = {},
): Promise<Place> {
  const { by = AUTHORITY, ...request } = more
  const { certPEM, keyPEM } = await by.issue({ names: ['localhost', 'git.example.com'], ...request })
  return place(t, createServer({ cert: certPEM, key: keyPEM }, listener))
}

/** A server without TLS. */
export function servePlainly(t: Test, listener: RequestListener): Promise<Place> {
  return place(t, createPlainServer(listener))
}

/** A server without HTTP, or with broken HTTP. */
export function serveRaw(t: Test, speak: (socket: Socket) => void): Promise<Place> {
  return place(
    t,
    createRawServer((socket) => {
      speak(socket)
      // A socket that is not read does not report its end.
      socket.resume()
    }),
  )
}

async function place(t: Test, server: Server): Promise<Place> {
  const open = new Set<Socket>()
  const connections: Socket[] = []
  server.on('connection', (socket: Socket) => {
    connections.push(socket)
    open.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket))
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of connections) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { port, open, connections }
}

/** An API on this server, under a name. */
export function urlOf({ port }: Place): string {
  return `https://git.example.com:${port}/api`
}

/** Every name is at 127.0.0.1, and the test's authority is trusted. */
export const SETTINGS: HTTPSettings = {
  resolve: () => Promise.resolve(['127.0.0.1']),
  proxies: { proxy: undefined, exceptions: [] },
  insecureHosts: [],
  trust: followTrust(CA_FILE),
}

export const GET: FetchInit = { method: 'GET', headers: { authorization: 'Bearer t0ken' } }

export interface Terms {
  readonly settings?: Partial<HTTPSettings>
  readonly signal?: AbortSignal
  readonly init?: FetchInit
  /** Milliseconds for one call. */
  readonly timeoutMs?: number
}

/** Calls the address once; returns the answer or the Failure. Anything else is an error of the test. */
export async function call(url: string, terms: Terms = {}): Promise<Response | Failure> {
  const { settings = {}, signal = AbortSignal.timeout(30_000), init = GET, timeoutMs } = terms
  const withAPI = openHTTP({ ...SETTINGS, ...settings }, timeoutMs)
  try {
    return await withAPI(new URL(url).origin, signal, (fetch) => fetch(url, init))
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

/** The same against a server without TLS that writes these bytes for any request. */
export async function callRaw(t: Test, bytes: string | Buffer, terms: Terms = {}) {
  const { port } = await serveRaw(t, (socket) => socket.once('data', () => socket.end(bytes)))
  const insecureHosts = [{ host: 'git.example.com', port }]
  return call(`http://git.example.com:${port}/`, { ...terms, settings: { insecureHosts, ...terms.settings } })
}
