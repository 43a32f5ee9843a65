import { readFile } from 'node:fs/promises'
import { connect as connectPlain, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import type { SecureContext, TLSSocket } from 'node:tls'
import { certificateFailure } from '../../domain/network/certificate-errors.ts'
import type { ShownCertificate } from '../../domain/network/certificate-errors.ts'
import { Failure } from '../../domain/failure.ts'
import { connectTLS } from '../../net/metered-tls.ts'
import { contextOf } from '../../net/trust.ts'
import { openTunnel } from '../../net/tunnel.ts'
import type { Destination } from '../process/environment.ts'

/** Milliseconds: the extra check must not make a failed attempt much longer. */
const TIMEOUT_MS = 5_000

/**
 * Finds out what is wrong with the certificate of the repository's host by a TLS connection of this process, because
 * git prints the same message for every problem (GnuTLS: "certificate verification failed"). Uses the same route and
 * authorities as git, and sends no data. Undefined: nothing is wrong, or the host cannot be reached.
 */
export async function explainCertificate(
  destination: Destination,
  timeoutMs = TIMEOUT_MS,
): Promise<Failure | undefined> {
  const trust = contextOf([await readFile(destination.authorities, 'utf8')])
  const probe = { destination, trust, signal: AbortSignal.timeout(timeoutMs) }
  const socket = await openSocket(probe).catch((error: unknown) => untrustedProxy(error, destination))
  if (socket === undefined || socket instanceof Failure) return socket
  const shown = await shakeHands(probe, socket).catch(() => undefined)
  socket.destroy()
  return shown === undefined ? undefined : untrusted(shown, destination)
}

interface Probe {
  readonly destination: Destination
  readonly trust: SecureContext
  readonly signal: AbortSignal
}

/** Undefined: the proxy refuses, which has nothing to do with a certificate. */
async function openSocket({ destination, trust, signal }: Probe): Promise<Socket | undefined> {
  const { address, proxy, addresses = [] } = destination
  if (proxy !== undefined) {
    const opened = await openTunnel(address, { proxy, trust, signal })
    return typeof opened === 'number' ? undefined : opened
  }
  const checked = addresses.map((one) => ({ address: one, family: isIP(one) }))
  const lookup: LookupFunction = (_host, _options, answer) => answer(null, checked)
  return connectPlain({ host: address.host, port: address.port, lookup, autoSelectFamily: true, signal })
}

function shakeHands({ destination, trust, signal }: Probe, socket: Socket): Promise<ShownCertificate> {
  const { host } = destination.address
  const { promise, resolve, reject } = Promise.withResolvers<ShownCertificate>()
  const server = { host, ...(isIP(host) === 0 ? { servername: host } : {}) }
  const options = { ...server, secureContext: trust, rejectUnauthorized: false }
  const secured = connectTLS(socket, options, destination.share)
  secured.once('secureConnect', () => resolve(shownBy(secured)))
  for (const stream of [socket, secured]) stream.on('error', reject)
  socket.once('close', reject)
  signal.addEventListener('abort', reject, { once: true })
  return promise
}

function shownBy(secured: TLSSocket): ShownCertificate {
  const { validFromDate, validToDate } = secured.getPeerX509Certificate() ?? {}
  return { fault: String(secured.authorizationError), from: validFromDate, to: validToDate }
}

function untrusted(shown: ShownCertificate, { address }: Destination): Failure | undefined {
  return certificateFailure(address.text, shown)
}

/** The proxy itself has a certificate that is not trusted; undefined: the error has another cause. */
function untrustedProxy(error: unknown, { address, proxy }: Destination): Failure | undefined {
  const fault = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (proxy === undefined) return undefined
  return certificateFailure(`${address.text} cannot be reached: the proxy of HTTPS_PROXY`, { fault })
}
