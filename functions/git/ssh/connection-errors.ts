import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { Failure } from '../../domain/failure.ts'
import type { FailureReason } from '../../domain/reasons.ts'

/** What ssh2 adds to its errors. */
export interface SSHError extends Error {
  /** `client-authentication`, `client-timeout`, `client-socket`, `handshake`, `protocol`. */
  readonly level?: string
  /** A name of the system's, or the reason of the server's own disconnect (RFC 4253, section 11.1). */
  readonly code?: string | number
}

/** What is known of a connection that did not come about. */
export interface Handshake {
  readonly address: RepositoryAddress
  /** Type and fingerprint of the user's key. */
  readonly key: string
  /** What ssh2 told of the server's offer, line by line. */
  readonly offers: readonly string[]
}

/** Kinds of algorithms as ssh2 names them: in its complaint, in its trace, and in words. */
const KINDS = [
  ['key exchange algorithm', 'KEX method', 'key exchanges'],
  ['host key format', 'Host key format', 'host key signatures'],
  ['C->S cipher', 'C->S cipher', 'ciphers'],
  ['S->C cipher', 'S->C cipher', 'ciphers'],
  ['C->S MAC', 'C->S MAC', 'checksums'],
  ['S->C MAC', 'S->C MAC', 'checksums'],
  ['C->S compression', 'C->S compression', 'compressions'],
  ['S->C compression', 'S->C compression', 'compressions'],
] as const
const OFFER = 'Handshake: (remote) '
/** A server may shake hands as often as it likes. */
const MOST_LINES = 32
const LONGEST_LINE = 400
const LONGEST_OFFER = 300
const TOO_MANY_CONNECTIONS = 12
const HOST_NOT_ALLOWED = 1
const NOT_LET_IN = [13, 14, 15]

/** Puts what ssh2 traces of the server's offer to the offers: the first 32 lines, 400 characters of each. */
export function noteOffer(offers: string[], line: string): void {
  if (offers.length < MOST_LINES && line.startsWith(OFFER)) offers.push(line.slice(0, LONGEST_LINE))
}

/** Says why nothing takes the connection; without a code the time was over. */
export function unreachable({ text }: RepositoryAddress, { code }: { readonly code?: unknown }): Failure {
  const refused = code === 'ECONNREFUSED' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH'
  const why = refused
    ? 'nothing takes the connection at that host and port; look at the address, it is tried again.'
    : 'nothing answers at that host and port; look at the address and at firewalls, it is tried again.'
  return new Failure('NetworkError', `${text} cannot be reached: ${why}`)
}

/** Says why there is no way in, from the first of ssh2's errors. */
export function explainHandshake(error: SSHError, handshake: Handshake): Failure {
  const { address, key } = handshake
  if (isRefusal(error)) {
    return failure(
      'AuthenticationFailed',
      handshake,
      `does not let the user ${address.user ?? ''} in with the key ${key}; add its public half to the account, or to the repository as a deploy key that may write, or put another key into the Secret.`,
    )
  }
  if (error.code === TOO_MANY_CONNECTIONS)
    return failure('RateLimited', handshake, 'asks for fewer connections; it is tried again later.')
  // No other key would help.
  if (error.code === HOST_NOT_ALLOWED)
    return failure(
      'NetworkError',
      handshake,
      'takes no connection from where Commitlet calls; it is tried again, and the operator may ask whoever runs the host.',
    )
  if (error.level === 'client-timeout')
    return failure(
      'Timeout',
      handshake,
      'takes the connection but does not answer as an SSH server does; look at the port, it is tried again.',
    )
  const kind = KINDS.find(([complaint]) => error.message === `Handshake failed: no matching ${complaint}`)
  if (kind !== undefined) return failure('NotSupported', handshake, weakness(kind, handshake.offers))
  if (/signature verification failed|Wrong signature type|Malformed signature/.test(error.message)) {
    return failure(
      'HostKeyMismatch',
      handshake,
      'shows a host key but cannot prove that it is its own; somebody may be in between.',
    )
  }
  if (error.level === 'protocol')
    return failure(
      'NetworkError',
      handshake,
      'does not answer as an SSH server does; look at host and port, it is tried again.',
    )
  return failure(
    'NetworkError',
    handshake,
    'broke the connection off before it let anybody in; it is tried again.',
  )
}

/** Says how a connection ended that had let the user in. */
export function explainLoss({ text }: RepositoryAddress, error: SSHError): Failure {
  if (error.level === 'client-timeout')
    return new Failure(
      'Timeout',
      `${text} stopped answering in the middle of the exchange; it is tried again.`,
    )
  if (error.code === TOO_MANY_CONNECTIONS)
    return new Failure('RateLimited', `${text} asks for fewer connections; it is tried again later.`)
  return new Failure(
    'NetworkError',
    `${text} broke the connection off in the middle of the exchange; it is tried again.`,
  )
}

/** Says that Git cannot be started. `resources`: the server has no room at the moment (RFC 4254, section 5.1). */
export function channelRefused({ text }: RepositoryAddress, service: string, resources: boolean): Failure {
  if (resources)
    return new Failure(
      'ProviderUnavailable',
      `${text} has no room for another session at the moment; it is tried again.`,
    )
  return new Failure(
    'PermissionDenied',
    `${text} lets the key in but does not let it run ${service}; give the account or the key the right to use Git there.`,
  )
}

// OpenSSH says it as an error of the protocol, others by the reason.
function isRefusal({ level, code, message }: SSHError): boolean {
  if (level === 'client-authentication') return true
  return typeof code === 'number' && (NOT_LET_IN.includes(code) || /authentication failures/i.test(message))
}

function weakness([, traced, words]: (typeof KINDS)[number], offers: readonly string[]): string {
  const marker = `${OFFER}${traced}: `
  const line = offers.find((offer) => offer.startsWith(marker))?.slice(marker.length) ?? ''
  // The server's own words: only what can be a name (RFC 4251, section 6) is shown.
  const names = line.slice(0, LONGEST_OFFER).replace(/[^A-Za-z0-9@.,_+-]/g, '')
  return `offers only ${words} that Commitlet does not use, because they are broken or not supported (${names.replaceAll(',', ', ')}); whoever runs the host has to allow newer ones.`
}

function failure(reason: FailureReason, { address }: Handshake, says: string): Failure {
  return new Failure(reason, `${address.text} ${says}`)
}
