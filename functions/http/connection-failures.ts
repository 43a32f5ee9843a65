import { certificateFailure } from '../domain/network/certificate-errors.ts'
import { Failure } from '../domain/failure.ts'
import { codeOf } from './failures.ts'

const PROXY = 'the proxy of HTTPS_PROXY'

/** Why there is no connection to the API's host; `host` is its name and port. A proxy, if any, has connected to it. */
export function hostFailure(cause: unknown, host: string): Failure {
  const code = codeOf(cause)
  const untrusted = certificateFailure(host, { fault: code }, cause)
  if (untrusted !== undefined) return untrusted
  if (isTimeout(cause, code))
    return new Failure(
      'Timeout',
      `${host} did not accept the connection in time; Commitlet retries automatically.`,
      { cause },
    )
  return new Failure('NetworkError', `${host} cannot be reached: ${hostProblem(code)}.`, { cause })
}

function hostProblem(code: string): string {
  if (isTLS(code)) return 'the TLS handshake failed; Commitlet retries automatically, but check the address'
  if (isCut(code))
    return 'it closes the connection at once; Commitlet retries automatically, but check whether it is up'
  return 'nothing accepts the connection at that host and port; Commitlet retries automatically, but check the address'
}

/** Why the proxy cannot be used. */
export function proxyFailure(cause: unknown, host: string): Failure {
  const code = codeOf(cause)
  const start = `${host} cannot be reached: `
  const untrusted = certificateFailure(`${start}${PROXY}`, { fault: code }, cause)
  if (untrusted !== undefined) return untrusted
  const end = 'Commitlet retries automatically, and your Commitlet operator should check it.'
  if (isTimeout(cause, code))
    return new Failure('Timeout', `${start}${PROXY} did not answer in time; ${end}`, { cause })
  return new Failure('NetworkError', `${start}${proxyProblem(code)}; ${end}`, { cause })
}

function proxyProblem(code: string): string {
  if (['ENOTFOUND', 'EAI_AGAIN'].includes(code)) return `${PROXY} is not known to DNS`
  if (isTLS(code) || code.startsWith('HPE_')) return `${PROXY} does not answer as a proxy`
  if (isCut(code)) return `${PROXY} closes the connection`
  return `nothing accepts the connection at ${PROXY}`
}

/** Why the proxy does not connect to the host, by the status of its answer. */
export function proxyRefusal(status: number, host: string): Failure {
  const start = `${host} cannot be reached: ${PROXY}`
  if (status === 407) {
    const message = `${start} does not accept the user name and password of that setting (407); your Commitlet operator has to fix them.`
    return new Failure('NetworkError', message)
  }
  if (status === 403) {
    const message = `${start} does not let Commitlet connect to that host (403); ask your Commitlet operator.`
    return new Failure('AddressForbidden', message)
  }
  const message = `${start} cannot connect to that host and port (${status}); Commitlet retries automatically, but check the address.`
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
