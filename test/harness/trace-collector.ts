import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Certificate } from './certificates.ts'
import { waitFor } from './wait.ts'

/** A span as it arrived. */
export interface ReceivedSpan {
  readonly service: string
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** Whole nanoseconds since 1970. */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, string | number>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly failed: boolean
}

/** Answers a request itself; `false`: the request is accepted. */
export type Misbehave = (response: ServerResponse, request: number) => boolean

/** A real receiver of OTLP over HTTP in its JSON encoding, on 127.0.0.1. */
export interface TraceCollector {
  readonly port: number
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string
  readonly spans: ReceivedSpan[]
  /** Header fields of all requests. */
  readonly requests: IncomingHttpHeaders[]
  /** What is not as the specification has it, of all requests. */
  readonly problems: string[]
  /** Waits until so many spans match. */
  waitForSpans(matches: (span: ReceivedSpan) => boolean, count?: number): Promise<readonly ReceivedSpan[]>
  close(): Promise<void>
}

export interface CollectorOptions {
  /** Uses TLS with this certificate. */
  readonly certificate?: Certificate
  readonly misbehave?: Misbehave
}

const PATIENCE_MS = 30_000

/** Starts a collector. */
export async function startCollector({
  certificate,
  misbehave = () => false,
}: CollectorOptions = {}): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = []
  const requests: IncomingHttpHeaders[] = []
  const problems: string[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(request.headers)
    if (misbehave(response, requests.length)) return
    if (request.method !== 'POST' || request.url !== '/v1/traces')
      problems.push(`${request.method} ${request.url}`)
    if (request.headers['content-type'] !== 'application/json') problems.push('content-type')
    spans.push(...readRequest(JSON.parse(await text(request)), problems))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response).catch((error: unknown) => {
      problems.push(String(error))
      response.destroy()
    })
  const server =
    certificate === undefined
      ? createServer(listener)
      : createSecureServer({ cert: certificate.certPEM, key: certificate.keyPEM }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${certificate === undefined ? 'http' : 'https'}://localhost:${port}`,
    spans,
    requests,
    problems,
    waitForSpans: (matches, count = 1) =>
      waitFor(
        `${count} spans`,
        () => {
          const found = spans.filter(matches)
          return found.length >= count ? found : undefined
        },
        PATIENCE_MS,
      ),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

interface Written {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WrittenAttribute[] }
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string }
      readonly spans: readonly WrittenSpan[]
    }[]
  }[]
}

interface WrittenAttribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

interface WrittenSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly WrittenAttribute[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code?: number }
}

/** The fields of opentelemetry/proto/trace/v1/trace.proto and common.proto that there are, in the names of JSON. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': ['resourceSpans'],
  resourceSpans: ['resource', 'scopeSpans', 'schemaUrl'],
  resource: ['attributes', 'droppedAttributesCount'],
  scopeSpans: ['scope', 'spans', 'schemaUrl'],
  scope: ['name', 'version', 'attributes', 'droppedAttributesCount'],
  spans: [
    ...['traceId', 'spanId', 'traceState', 'parentSpanId', 'flags', 'name', 'kind', 'startTimeUnixNano'],
    ...['endTimeUnixNano', 'attributes', 'droppedAttributesCount', 'events', 'droppedEventsCount', 'links'],
    ...['droppedLinksCount', 'status'],
  ],
  attributes: ['key', 'value'],
  value: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'],
  links: ['traceId', 'spanId', 'traceState', 'attributes', 'droppedAttributesCount', 'flags'],
  status: ['message', 'code'],
}

/** Names every field that the protocol does not have: a receiver ignores these without a word. */
function unknownFields(value: unknown, place: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => unknownFields(one, place))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(FIELDS[place]?.includes(key) === true ? [] : [`${place}.${key}`]),
    ...unknownFields(inner, key),
  ])
}

function readRequest(body: unknown, problems: string[]): readonly ReceivedSpan[] {
  problems.push(...unknownFields(body, ''))
  return (body as Written).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => readSpan(span, service, problems)))
  })
}

function readSpan(span: WrittenSpan, service: string, problems: string[]): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, links = [] } = span
  const ids = [[spanId, ...(parentSpanId === undefined ? [] : [parentSpanId])], [traceId]]
  for (const link of links) ids.push([link.spanId], [link.traceId])
  for (const id of ids.flat())
    if (!/^([0-9a-f]{16}|[0-9a-f]{32})$/.test(id) || /^0*$/.test(id)) problems.push(`id ${id}`)
  if (traceId.length !== 32 || spanId.length !== 16) problems.push(`ids of ${name}`)
  const [start, end] = [span.startTimeUnixNano, span.endTimeUnixNano].map(BigInt)
  if (start === undefined || end === undefined || start > end) problems.push(`times of ${name}`)
  return {
    ...{ service, name, kind, traceId, spanId, parentSpanId, links },
    start: start ?? 0n,
    end: end ?? 0n,
    attributes: valuesOf(span.attributes),
    failed: span.status.code === 2,
  }
}

function valuesOf(attributes: readonly WrittenAttribute[]): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [
      key,
      intValue === undefined ? String(stringValue) : Number(intValue),
    ]),
  )
}
