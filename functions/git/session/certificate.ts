import { connect as connectPlain, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { connect, createSecureContext } from 'node:tls'
import type { SecureContext, TLSSocket } from 'node:tls'
import { certificateError } from '../../domain/network/certificate-errors.ts'
import type { ShownCertificate } from '../../domain/network/certificate-errors.ts'
import { Failure } from '../../domain/failure.ts'
import { openTunnel } from '../../net/tunnel.ts'
import { readBundle } from '../process/bundle.ts'
import type { Destination } from '../process/environment.ts'

/** Milliseconds: an attempt that has failed does not take much longer because of a closer look. */
const TIMEOUT_MS = 5_000

/**
 * Tells by a look of this process's own what is wrong with the certificate that the repository's host shows, since git says the
 * same of all (GnuTLS: "certificate verification failed"): by the same route and with the same authorities as git, and
 * nothing is sent. Undefined: nothing is found, or it cannot be looked at.
 */
export async function explainCertificate(
  destination: Destination,
  timeoutMs = TIMEOUT_MS,
): Promise<Failure | undefined> {
  const trust = createSecureContext({ ca: [...(await readBundle(destination.authorities))] })
  const look = { destination, trust, signal: AbortSignal.timeout(timeoutMs) }
  const socket = await openSocket(look).catch((error: unknown) => untrustedProxy(error, destination))
  if (socket === undefined || socket instanceof Failure) return socket
  const shown = await shakeHands(look, socket).catch(() => undefined)
  socket.destroy()
  return shown === undefined ? undefined : untrusted(shown, destination)
}

interface Look {
  readonly destination: Destination
  readonly trust: SecureContext
  readonly signal: AbortSignal
}

/** Undefined: the proxy refuses, which says nothing of a certificate. */
async function openSocket({ destination, trust, signal }: Look): Promise<Socket | undefined> {
  const { address, proxy, addresses = [] } = destination
  if (proxy !== undefined) {
    const opened = await openTunnel(address, { proxy, trust, signal })
    return typeof opened === 'number' ? undefined : opened
  }
  const checked = addresses.map((one) => ({ address: one, family: isIP(one) }))
  const lookup: LookupFunction = (_host, _options, answer) => answer(null, checked)
  return connectPlain({ host: address.host, port: address.port, lookup, autoSelectFamily: true, signal })
}

function shakeHands({ destination, trust, signal }: Look, socket: Socket): Promise<ShownCertificate> {
  const { host } = destination.address
  const { promise, resolve, reject } = Promise.withResolvers<ShownCertificate>()
  const server = { host, ...(isIP(host) === 0 ? { servername: host } : {}) }
  const secured = connect({ ...server, socket, secureContext: trust, rejectUnauthorized: false })
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
  const says = certificateError(shown)
  return says === undefined
    ? undefined
    : new Failure('TLSUntrusted', `${address.text} shows a certificate ${says}`)
}

/** An https proxy that is not trusted itself; undefined: it is not there, which says nothing here. */
function untrustedProxy(error: unknown, { address, proxy }: Destination): Failure | undefined {
  const fault = error instanceof Error && 'code' in error ? String(error.code) : ''
  const says = certificateError({ fault })
  if (proxy === undefined || says === undefined) return undefined
  const message = `${address.text} cannot be reached: the proxy of HTTPS_PROXY shows a certificate ${says}`
  return new Failure('TLSUntrusted', message)
}
