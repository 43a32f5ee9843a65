import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import pino from 'pino'
import type { Logger } from 'pino'
import type { Timing } from '../../functions/domain/incoming/timing.ts'
import { TIMING } from '../../functions/net/timing.ts'
import type { KeyPairFiles } from '../../webhook/tls.ts'
import type { Authority } from '../harness/certificates.ts'

export const UID = '3f0c0d6e-5a0b-4b43-8c5e-7a8b9c0d1e2f'

/** A logger whose lines can be read. */
export function recordingLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  return { log: pino({ level: 'debug' }, stream), lines }
}

/** A valid GitCommit, as /validate sees it. */
export function gitCommit(
  changes: Readonly<Record<string, unknown>> = {},
  spec: Readonly<Record<string, unknown>> = {},
) {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { namespace: 'shop', name: 'settings', uid: UID, generation: 1, ...changes },
    spec: {
      repository: 'https://git.example.com/acme/shop.git',
      branch: 'main',
      message: 'chore: new settings of the shop',
      credentials: { secretName: 'git', tokenKey: 'token' },
      resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'prod/settings.yaml' },
      ...spec,
    },
  }
}

/** The stamp that /mutate sets for the user of `reviewOf`, where there is no key. */
export const STAMP_OF_DEVELOPER = {
  'commitlet.dev/requested-by': 'developer',
  'commitlet.dev/requester': '{"username":"developer","groups":["developers"],"generation":1}',
}

/** The GitCommit as /validate sees it once /mutate has stamped it. */
export function stamped(
  changes: Readonly<Record<string, unknown>> = {},
  spec: Readonly<Record<string, unknown>> = {},
) {
  return gitCommit({ annotations: STAMP_OF_DEVELOPER, ...changes }, spec)
}

/** An AdmissionReview as the API server sends it. */
export function reviewOf(object: unknown, request: Readonly<Record<string, unknown>> = {}) {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'review-1',
      kind: { group: 'commitlet.dev', version: 'v1', kind: 'GitCommit' },
      resource: { group: 'commitlet.dev', version: 'v1', resource: 'gitcommits' },
      namespace: 'shop',
      name: 'settings',
      operation: 'CREATE',
      userInfo: { username: 'developer', groups: ['developers'] },
      object,
      oldObject: null,
      dryRun: false,
      ...request,
    },
  }
}

/** Writes a certificate for localhost as in a Secret volume. */
export async function writePair(dir: string, authority: Authority): Promise<KeyPairFiles> {
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost', '127.0.0.1'] })
  const files = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), clientCAFile: undefined }
  await writeFile(files.certFile, certPEM)
  await writeFile(files.keyFile, keyPEM)
  return files
}

export interface Posted {
  readonly status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read parts of it
  readonly body: any
  /** SHA-256 fingerprint of the certificate that was served. */
  readonly served: string
}

/** One HTTPS request over a connection of its own. */
export function call(
  target: {
    port: number
    ca: string
    cert?: string
    key?: string
    headers?: Readonly<Record<string, string>>
    /** Default: 127.0.0.1. */
    localAddress?: string
  },
  path: string,
  body?: string,
): Promise<Posted> {
  const { port, headers: others, ...tls } = target
  const { promise, resolve, reject } = Promise.withResolvers<Posted>()
  const method = body === undefined ? 'GET' : 'POST'
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...others,
  }
  const outgoing = request(
    { host: '127.0.0.1', port, path, method, headers, agent: false, ...tls },
    (incoming) => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (chunk: string) => (text += chunk))
      incoming.on('end', () => {
        const status = incoming.statusCode ?? 0
        resolve({ status, served, body: text.startsWith('{') ? JSON.parse(text) : { text } })
      })
    },
  )
  let served = ''
  outgoing.once('socket', (socket) => {
    socket.once('secureConnect', () => {
      if (socket instanceof TLSSocket) served = socket.getPeerCertificate().fingerprint256
    })
  })
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

export interface Received {
  readonly headers: IncomingHttpHeaders
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read parts of it
  readonly data: any
}

/** A sink over plain HTTP: the events that came, and the answers to the next requests. */
export interface SinkServer {
  readonly url: URL
  readonly received: Received[]
  readonly connections: () => number
  answer: (response: ServerResponse, request: IncomingMessage) => void
  close: () => Promise<void>
}

/** Starts a sink that answers 202 unless a test sets another status. */
export async function startSink(port = 0): Promise<SinkServer> {
  let connections = 0
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.setEncoding('utf8')
    incoming.on('data', (chunk: string) => (text += chunk))
    incoming.on('end', () => {
      sink.received.push({ headers: incoming.headers, data: JSON.parse(text) })
      sink.answer(response, incoming)
    })
  })
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const sink: SinkServer = {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    received: [],
    connections: () => connections,
    answer: (response) => response.writeHead(202).end(),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return sink
}

/** Refusals come in a tenth of their time. */
export const QUICK: Timing = {
  ...TIMING,
  wait: (milliseconds, signal) => pause(milliseconds / 10, undefined, { signal }),
}
