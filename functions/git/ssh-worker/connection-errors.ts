import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { Failure } from '../../domain/failure.ts'
import type { FailureReason } from '../../domain/reasons.ts'
import type { Violation } from './traffic-guard.ts'

/** What ssh2 adds to its errors. */
export interface SSHError extends Error {
  /** `client-authentication`, `client-timeout`, `client-socket`, `handshake`, `protocol`. */
  readonly level?: string
  /** An error code of the system, or the reason code of the server's disconnect (RFC 4253, section 11.1). */
  readonly code?: string | number
}

/** What is known about a connection that failed before the login. */
export interface Handshake {
  readonly address: RepositoryAddress
  /** Type and fingerprint of the user's key. */
  readonly key: string
  /** ssh2's trace lines about the algorithms that the server offers. */
  readonly offers: readonly string[]
  /** How what the server sent begins. */
  readonly first: string
}

/** Kinds of algorithms: ssh2's name in its error, ssh2's name in its trace, and the name in messages. */
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
/** Whoever has answered need not be the host: for a while it may be somebody in between, or another server at its address. */
const SLOW = { retry: 'slow' } as const
const OFFER = 'Handshake: (remote) '
/** Quoted as JavaScript does it: whatever it holds is in one line. */
const SOFTWARE = "Remote ident: '"
/** A server may repeat the handshake without limit. */
const MOST_LINES = 32
const LONGEST_LINE = 400
const LONGEST_OFFER = 300
const TOO_MANY_CONNECTIONS = 12
/** OpenSSH, at MaxStartups and PerSourceMaxStartups, and at PerSourcePenalties: in place of its identification. */
const NOT_NOW = /^(?:Exceeded MaxStartups|Not allowed at this time)/
const HOST_NOT_ALLOWED = 1
const LOGIN_REFUSED = [13, 14, 15]

/** Adds a trace line about the server's offer to `offers`: the first 32 lines, 400 characters of each. */
export function noteOffer(offers: string[], line: string): void {
  if (offers.length < MOST_LINES && line.startsWith(OFFER)) offers.push(line.slice(0, LONGEST_LINE))
}

/** What the server says that it is, of ssh2's trace line about it. */
export function softwareIn(line: string): string | undefined {
  return line.startsWith(SOFTWARE) ? line.slice(SOFTWARE.length, LONGEST_LINE) : undefined
}

/** Explains why the host accepts no connection; without a code the attempt to connect timed out. */
export function unreachable({ text }: RepositoryAddress, { code }: { readonly code?: unknown }): Failure {
  const refused = code === 'ECONNREFUSED' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH'
  const why = refused
    ? 'nothing accepts the connection at that host and port; Commitlet retries automatically, but check the address.'
    : 'nothing answers at that host and port; Commitlet retries automatically, but check the address and firewalls.'
  return new Failure('NetworkError', `${text} cannot be reached: ${why}`)
}

/** Explains why the login failed, from the first of ssh2's errors. */
export function explainHandshake(error: SSHError, handshake: Handshake): Failure {
  const { address, key, first } = handshake
  if (isRefusal(error)) {
    return failure(
      'AuthenticationFailed',
      handshake,
      `does not accept the key ${key} for the user ${address.user ?? ''}; add its public key to the account, or to the repository as a deploy key with write access, or put another key into the Secret.`,
    )
  }
  if (error.code === TOO_MANY_CONNECTIONS || NOT_NOW.test(first))
    return failure('RateLimited', handshake, 'asks for fewer connections; Commitlet retries later.')
  // No other key would help.
  if (error.code === HOST_NOT_ALLOWED)
    return failure(
      'NetworkError',
      handshake,
      'accepts no connection from the address of Commitlet; Commitlet retries automatically, and your Commitlet operator may ask the administrator of the host.',
    )
  if (error.level === 'client-timeout')
    return failure(
      'Timeout',
      handshake,
      'accepts the connection but does not answer as an SSH server; Commitlet retries automatically, but check the port.',
    )
  const kind = KINDS.find(([complaint]) => error.message === `Handshake failed: no matching ${complaint}`)
  if (kind !== undefined)
    return new Failure('NotSupported', `${address.text} ${noCommonAlgorithm(kind, handshake.offers)}`, SLOW)
  if (/signature verification failed|Wrong signature type|Malformed signature/.test(error.message)) {
    return failure(
      'HostKeyMismatch',
      handshake,
      'shows a host key but cannot prove that it owns that key; someone may be intercepting the connection.',
    )
  }
  if (error.level === 'protocol')
    return failure(
      'NetworkError',
      handshake,
      'does not answer as an SSH server; Commitlet retries automatically, but check the host and the port.',
    )
  return failure(
    'NetworkError',
    handshake,
    'closed the connection before the login was complete; Commitlet retries automatically.',
  )
}

/** Explains how a connection ended after the login. */
export function explainLoss({ text }: RepositoryAddress, error: Pick<SSHError, 'level' | 'code'>): Failure {
  if (error.level === 'client-timeout')
    return new Failure(
      'Timeout',
      `${text} stopped answering in the middle of the exchange; Commitlet retries automatically.`,
    )
  if (error.code === TOO_MANY_CONNECTIONS)
    return new Failure('RateLimited', `${text} asks for fewer connections; Commitlet retries later.`)
  return new Failure(
    'NetworkError',
    `${text} closed the connection in the middle of the exchange; Commitlet retries automatically.`,
  )
}

const VIOLATIONS: Readonly<Record<Violation, readonly [FailureReason, string]>> = {
  chatter: [
    'NotSupported',
    'sends more than 1 MiB of SSH messages besides the data of Git, which is the limit; the administrator of the host has to find out why.',
  ],
  'second key exchange': [
    'NotSupported',
    'begins a second key exchange on one connection, which Commitlet does not support; the administrator of the host has to allow more data and time before it (RekeyLimit of OpenSSH).',
  ],
  'out of turn': [
    'NetworkError',
    'sends an SSH message that has no place at this point of the protocol; Commitlet retries automatically, but check the host and the port.',
  ],
  'beyond the window': [
    'NetworkError',
    'sends more data at once than SSH allows it to; Commitlet retries automatically, but check the host and the port.',
  ],
  'tiny packets': [
    'NotSupported',
    'takes SSH packets of less than 1 KiB only; the administrator of the host has to find out why.',
  ],
}

/** Explains that a limit of Commitlet ended the connection. */
export function explainViolation({ text }: RepositoryAddress, violation: Violation): Failure {
  const [reason, rest] = VIOLATIONS[violation]
  return new Failure(reason, `${text} ${rest}`, reason === 'NotSupported' ? SLOW : {})
}

/** Explains that Git cannot be started. `resources`: the server is short of resources (RFC 4254, section 5.1). */
export function channelRefused({ text }: RepositoryAddress, service: string, resources: boolean): Failure {
  if (resources)
    return new Failure(
      'ProviderUnavailable',
      `${text} has no capacity for another session at the moment; Commitlet retries automatically.`,
    )
  return new Failure(
    'PermissionDenied',
    `${text} accepts the key but does not let it run ${service}; give the account or the key the right to use Git there.`,
  )
}

// OpenSSH reports it as a protocol error, other servers by the reason code.
function isRefusal({ level, code, message }: SSHError): boolean {
  if (level === 'client-authentication') return true
  return (
    typeof code === 'number' && (LOGIN_REFUSED.includes(code) || /authentication failures/i.test(message))
  )
}

function noCommonAlgorithm([, traced, words]: (typeof KINDS)[number], offers: readonly string[]): string {
  const marker = `${OFFER}${traced}: `
  const line = offers.find((offer) => offer.startsWith(marker))?.slice(marker.length) ?? ''
  // Text of the server: only characters that a name can have (RFC 4251, section 6) are shown.
  const names = line.slice(0, LONGEST_OFFER).replace(/[^A-Za-z0-9@.,_+-]/g, '')
  return `offers only ${words} that Commitlet does not use, because they are insecure or not supported (${names.replaceAll(',', ', ')}); the administrator of the host has to allow newer ones.`
}

function failure(reason: FailureReason, { address }: Handshake, rest: string): Failure {
  return new Failure(reason, `${address.text} ${rest}`)
}
