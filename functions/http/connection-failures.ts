import { certificateError } from '../domain/network/certificate-errors.ts'
import { Failure } from '../domain/failure.ts'
import { codeOf } from './failures.ts'

const PROXY = 'the proxy of HTTPS_PROXY'

/** Why there is no connection to the API's host, whose name and port `host` is; a proxy has let it through. */
export function hostFailure(cause: unknown, host: string): Failure {
  const code = codeOf(cause)
  const complaint = certificateError({ fault: code })
  if (complaint !== undefined)
    return new Failure('TLSUntrusted', `${host} shows a certificate ${complaint}`, { cause })
  if (isTimeout(cause, code))
    return new Failure('Timeout', `${host} did not take the connection in time; it is tried again.`, {
      cause,
    })
  return new Failure('NetworkError', `${host} cannot be reached: ${hostSays(code)}, it is tried again.`, {
    cause,
  })
}

function hostSays(code: string): string {
  if (isTLS(code)) return 'TLS cannot be agreed on there; look at the address'
  if (isCut(code)) return 'it breaks the connection off at once; look whether it is up'
  return 'nothing takes the connection at that host and port; look at the address'
}

/** Why the proxy cannot be used. */
export function proxyFailure(cause: unknown, host: string): Failure {
  const code = codeOf(cause)
  const start = `${host} cannot be reached: `
  const complaint = certificateError({ fault: code })
  if (complaint !== undefined)
    return new Failure('TLSUntrusted', `${start}${PROXY} shows a certificate ${complaint}`, { cause })
  const end = 'it is tried again, and the operator should look.'
  if (isTimeout(cause, code))
    return new Failure('Timeout', `${start}${PROXY} did not answer in time; ${end}`, { cause })
  return new Failure('NetworkError', `${start}${proxySays(code)}; ${end}`, { cause })
}

function proxySays(code: string): string {
  if (['ENOTFOUND', 'EAI_AGAIN'].includes(code)) return `${PROXY} is not known to DNS`
  if (isTLS(code) || code.startsWith('HPE_')) return `${PROXY} does not speak as a proxy does`
  if (isCut(code)) return `${PROXY} breaks the connection off`
  return `nothing takes the connection at ${PROXY}`
}

/** Why the proxy does not connect to the host: the status that it answered with. */
export function proxyRefusal(status: number, host: string): Failure {
  const start = `${host} cannot be reached: ${PROXY}`
  if (status === 407) {
    const message = `${start} does not accept the user name and password that stand there (407); the operator has to fix them.`
    return new Failure('NetworkError', message)
  }
  if (status === 403) {
    const message = `${start} does not let Commitlet through to that host (403); ask the operator.`
    return new Failure('AddressForbidden', message)
  }
  const message = `${start} gets no connection to that host and port (${status}); look at the address, it is tried again.`
  return new Failure('NetworkError', message)
}

function isTLS(code: string): boolean {
  return code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')
}

function isCut(code: string): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE'
}

function isTimeout(error: unknown, code: string): boolean {
  if (code === 'ETIMEDOUT' || code === 'ERR_SOCKET_CONNECTION_TIMEOUT') return true
  return error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name)
}
