import { connect as connectPlain, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { certificateComplaint } from '../domain/certificate-faults.ts'
import type { ShownCertificate } from '../domain/certificate-faults.ts'
import { Failure } from '../domain/failure.ts'
import { readAuthorities } from './authorities.ts'
import type { Remote } from './environment.ts'
import { openTunnel } from './tunnel.ts'

/** Milliseconds: an attempt that has failed does not take much longer because of a closer look. */
const PATIENCE = 5_000

/**
 * Tells by a look of our own what is wrong with the certificate that the repository's host shows, since git says the
 * same of all (GnuTLS: "certificate verification failed"): by the same way and with the same authorities as git, and
 * nothing is sent. Undefined: nothing is found, or it cannot be looked at.
 */
export async function explainCertificate(remote: Remote, patience = PATIENCE): Promise<Failure | undefined> {
  const authorities = await readAuthorities(remote.authorities)
  const way = { remote, authorities, signal: AbortSignal.timeout(patience) }
  const socket = await openSocket(way).catch((error: unknown) => untrustedProxy(error, remote))
  if (socket === undefined || socket instanceof Failure) return socket
  const shown = await shakeHands(way, socket).catch(() => undefined)
  socket.destroy()
  return shown === undefined ? undefined : untrusted(shown, remote)
}

interface Way {
  readonly remote: Remote
  readonly authorities: readonly string[]
  readonly signal: AbortSignal
}

async function openSocket({ remote, authorities, signal }: Way): Promise<Socket> {
  const { address, proxy, addresses = [] } = remote
  if (proxy !== undefined) return openTunnel(address, { proxy, authorities, signal })
  const checked = addresses.map((one) => ({ address: one, family: isIP(one) }))
  const lookup: LookupFunction = (_host, _options, answer) => answer(null, checked)
  return connectPlain({ host: address.host, port: address.port, lookup, autoSelectFamily: true, signal })
}

function shakeHands({ remote, authorities, signal }: Way, socket: Socket): Promise<ShownCertificate> {
  const { host } = remote.address
  const { promise, resolve, reject } = Promise.withResolvers<ShownCertificate>()
  const server = { host, ...(isIP(host) === 0 ? { servername: host } : {}) }
  const secured = connect({ ...server, socket, ca: [...authorities], rejectUnauthorized: false })
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

function untrusted(shown: ShownCertificate, { address }: Remote): Failure | undefined {
  const says = certificateComplaint(shown)
  return says === undefined
    ? undefined
    : new Failure('TLSUntrusted', `${address.text} shows a certificate ${says}`)
}

/** An https proxy that is not trusted itself; undefined: it is not there, or refuses, which says nothing here. */
function untrustedProxy(error: unknown, { address, proxy }: Remote): Failure | undefined {
  const fault = error instanceof Error && 'code' in error ? String(error.code) : ''
  const says = certificateComplaint({ fault })
  if (proxy === undefined || says === undefined) return undefined
  const message = `${address.text} cannot be reached: the proxy of HTTPS_PROXY shows a certificate ${says}`
  return new Failure('TLSUntrusted', message)
}
