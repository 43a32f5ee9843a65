import type { Environment } from '../domain/settings.ts'
import { orUndefined, text, WrongSetting } from '../domain/settings.ts'
import { SAMPLE_ALL, type Sampler } from './tracer.ts'

/** Where traces are sent, and which. */
export interface TraceSettings {
  /** With its path. */
  readonly endpoint: URL
  /** Secret: they may hold a token. */
  readonly headers: Readonly<Record<string, string>>
  /** Time limit of one request. */
  readonly timeoutMs: number
  readonly serviceName: string
  readonly sampler: Sampler
}

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const HEADERS = 'OTEL_EXPORTER_OTLP_HEADERS'
const PROTOCOL = 'OTEL_EXPORTER_OTLP_PROTOCOL'
const TIMEOUT = 'OTEL_EXPORTER_OTLP_TIMEOUT'
const SAMPLER = 'OTEL_TRACES_SAMPLER'
const RATIO = 'OTEL_TRACES_SAMPLER_ARG'
const LONGEST_TIMEOUT_MS = 60_000
/** RFC 9110, 5.6.2 and 5.5. */
const HEADER = { name: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, value: /^[\t\x20-\x7e\x80-\xff]*$/ }

/**
 * The standard variables of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 * and …/protocol/exporter/). Undefined without OTEL_EXPORTER_OTLP_ENDPOINT and with OTEL_SDK_DISABLED=true: then the others
 * are not checked. Throws WrongSetting; no sentence shows the endpoint or the headers, which may hold a password.
 */
export function readTraceSettings(env: Environment, serviceName: string): TraceSettings | undefined {
  const get = (name: string): string | undefined => text(env, name, undefined)?.trim()
  const [endpoint, headers, protocol, timeout] = [ENDPOINT, HEADERS, PROTOCOL, TIMEOUT].map(get)
  const [name, sampler = 'parentbased_always_on', ratio] = ['OTEL_SERVICE_NAME', SAMPLER, RATIO].map(get)
  const disabled = get('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  if (endpoint === undefined || disabled) return undefined
  if (protocol !== undefined && protocol !== 'http/json')
    throw new WrongSetting(`${PROTOCOL} is "${protocol}", but has to be http/json or unset.`)
  return {
    endpoint: endpointOf(endpoint),
    headers: headersOf(headers ?? ''),
    timeoutMs: timeoutOf(timeout ?? '10000'),
    serviceName: name ?? serviceName,
    sampler: samplerOf(sampler, ratio),
  }
}

function endpointOf(value: string): URL {
  const url = URL.parse(value)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === null || !isWeb || url.username !== '' || url.password !== '')
    throw new WrongSetting(`${ENDPOINT} has to be an http or https address without a user name, but is not.`)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`
  return url
}

/** `name=value,name=value`, the values percent-encoded. */
function headersOf(value: string): Readonly<Record<string, string>> {
  const pairs = value
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair): [string, string | undefined] => {
      const at = pair.indexOf('=')
      const decoded = orUndefined(() => decodeURIComponent(pair.slice(at + 1).trim()))
      return [pair.slice(0, Math.max(0, at)).trim().toLowerCase(), decoded]
    })
  const sound = pairs.flatMap(([name, content]): readonly (readonly [string, string])[] =>
    content !== undefined && HEADER.name.test(name) && HEADER.value.test(content) ? [[name, content]] : [],
  )
  if (sound.length === pairs.length) return Object.fromEntries<string>(sound)
  throw new WrongSetting(`${HEADERS} has to be a list like name=value,name=value, but is not.`)
}

function timeoutOf(value: string): number {
  const milliseconds = /^\d{1,9}$/.test(value) ? Number(value) : 0
  if (milliseconds > 0 && milliseconds <= LONGEST_TIMEOUT_MS) return milliseconds
  throw new WrongSetting(
    `${TIMEOUT} is "${value}", but has to be a whole number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}.`,
  )
}

function samplerOf(name: string, arg: string | undefined): Sampler {
  const root = ROOTS[name.replace(/^parentbased_/, '')]
  if (root === undefined)
    throw new WrongSetting(
      `${SAMPLER} is "${name}", but has to be one of ${Object.keys(ROOTS).join(', ')}, each also with parentbased_ before it.`,
    )
  const ratio = ratioOf(arg ?? '1')
  if (!name.startsWith('parentbased_')) return (traceId) => root(traceId, ratio)
  return name === 'parentbased_always_on' ? SAMPLE_ALL : (traceId, parent) => parent ?? root(traceId, ratio)
}

/** What is decided for a trace that nobody has decided about. */
const ROOTS: Readonly<Record<string, (traceId: string, ratio: number) => boolean>> = {
  always_on: () => true,
  always_off: () => false,
  // By the last 52 bits of the id, which are random: every program decides alike.
  traceidratio: (traceId, ratio) => Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 < ratio,
}

function ratioOf(value: string): number {
  const ratio = /^\d*\.?\d+$/.test(value) ? Number(value) : -1
  if (ratio >= 0 && ratio <= 1) return ratio
  throw new WrongSetting(`${RATIO} is "${value}", but has to be a number from 0 to 1.`)
}
