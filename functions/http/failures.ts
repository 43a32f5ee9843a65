import { certificateComplaint } from '../domain/certificate-faults.ts'
import { Failure } from '../domain/failure.ts'

/** Of a call that brought no answer. */
export interface FailedCall {
  /** `host` or `host:port` of the API, for sentences. */
  readonly place: string
  readonly proxied: boolean
  /** Fires at the attempt's deadline. */
  readonly signal: AbortSignal
}

const CAUSES = 5

/** What it means that a call brought no answer; a Failure as it is. */
export function callFailure(error: unknown, { place, proxied, signal }: FailedCall): Failure {
  if (error instanceof Failure) return error
  if (signal.reason instanceof Failure) return signal.reason
  const code = codeOf(error)
  const complaint = certificateComplaint({ fault: code })
  if (complaint !== undefined) {
    const whose = proxied ? ', or the proxy of HTTPS_PROXY,' : ''
    return new Failure('TLSUntrusted', `${place}${whose} shows a certificate ${complaint}`, { cause: error })
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new Failure(
      'ProviderUnavailable',
      `${place} answered with more than the 8 MiB that are read of an answer; it is tried again.`,
      { cause: error },
    )
  if (isTimeout(error, code) || signal.aborted)
    return new Failure('Timeout', `${place} did not answer in time; it is tried again.`, { cause: error })
  const by = proxied ? ' through the proxy of HTTPS_PROXY' : ''
  return new Failure('NetworkError', `${place} cannot be reached${by} (${said(code)}); it is tried again.`, {
    cause: error,
  })
}

const SAYINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there',
  EPROTO: 'TLS could not be agreed on',
  UND_ERR_ABORTED: 'the proxy refused',
}

function said(code: string): string {
  if (code.startsWith('HPE_')) return 'it does not speak HTTP'
  if (code.startsWith('ERR_SSL_')) return 'TLS could not be agreed on'
  return SAYINGS[code] ?? 'the connection failed'
}

function isTimeout(error: unknown, code: string): boolean {
  if (
    ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(code)
  )
    return true
  return error instanceof Error && error.name === 'TimeoutError'
}

/** The code that Node or undici gives the error, or what led to it; of several at once the first one's. */
function codeOf(error: unknown): string {
  let seen = error
  for (let depth = 0; depth < CAUSES && seen instanceof Error; depth += 1) {
    if ('code' in seen && typeof seen.code === 'string') return seen.code
    seen = seen instanceof AggregateError ? seen.errors[0] : seen.cause
  }
  return ''
}
