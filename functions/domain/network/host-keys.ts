import type { RepositoryAddress } from '../repository/address.ts'
import { HOSTS } from '../repository/hosts.ts'
import { Failure } from '../failure.ts'
import { fingerprintOf, knownName, readKnownHosts, typeOf, writeKnownHosts } from './known-hosts.ts'
import type { HostKey } from './known-hosts.ts'

/** Texts in the format of known_hosts, if there are any. */
export interface HostKeySources {
  /** Of the Secret in use. */
  readonly secret?: string | undefined
  /** Of the file that SSH_KNOWN_HOSTS names. */
  readonly operator?: string | undefined
}

/** The host and port whose keys are looked up. */
type Endpoint = Pick<RepositoryAddress, 'host' | 'port'>

const SHOWN = 3
/** Of one host in a Secret. A host has a handful; each is written with the whole name of the host, and hashed for each attempt. */
const MOST_KEYS = 256

/**
 * The lines of known_hosts that apply to the address: the Secret's if it has any, else the operator's, else the
 * published keys of the public hosts. A key that any of them marks as revoked stays revoked.
 * @throws Failure HostKeyUnknown if there is no line: a key is never trusted on first use; CredentialsInvalid if the Secret has
 *   more than 256 keys for it
 */
export function hostKeysFor(address: Endpoint, { secret = '', operator = '' }: HostKeySources): string {
  const own = readKnownHosts(secret, address)
  const count = own.known.length + own.revoked.length
  if (count > MOST_KEYS) throw tooManyKeys(count, address)
  const found = [own, ...[operator, PUBLISHED].map((text) => readKnownHosts(text, address))]
  const known = found.find((candidate) => candidate.known.length > 0)?.known
  if (known === undefined) {
    throw unknown(
      `No known_hosts entry says which host key ${knownName(address.host, address.port)} has`,
      address,
    )
  }
  return writeKnownHosts({ known, revoked: found.flatMap(({ revoked }) => revoked) }, address)
}

/**
 * Checks the key that the host shows (as it is sent, RFC 4253, section 6.6). Undefined: it is one of `hostKeys`.
 * Else HostKeyMismatch if it is revoked or another key of its type is known, HostKeyUnknown if there is none.
 */
export function judgeHostKey(
  shown: Buffer,
  address: RepositoryAddress,
  hostKeys: string,
): Failure | undefined {
  const { known, revoked } = readKnownHosts(hostKeys, address)
  const type = typeOf(shown) ?? 'an unknown type'
  const shows = `${address.text} shows the host key ${fingerprintOf(shown)} (${type})`
  if (includesKey(revoked, shown)) {
    const message = `${shows}, which is marked as revoked; do not use it, and ask the operator of the host for its current key.`
    return new Failure('HostKeyMismatch', message)
  }
  if (includesKey(known, shown)) return undefined
  const pinned = known.filter((key) => key.type === type).map(({ bytes }) => fingerprintOf(bytes))
  if (pinned.length === 0) return unknown(`${shows}, and known_hosts has no key of that type for it`, address)
  const message = `${shows}, but known_hosts has ${pinned.slice(0, SHOWN).join(', ')} for it; someone may intercept the connection, or the host has a new key: compare it with what the host publishes before you change the entry.`
  return new Failure('HostKeyMismatch', message)
}

/**
 * What names the server behind an address, which may have any number of names: fingerprints of the keys that it may show,
 * each once.
 */
export function hostKeyNames(hostKeys: string, address: Endpoint): readonly string[] {
  return [...new Set(readKnownHosts(hostKeys, address).known.map(({ bytes }) => fingerprintOf(bytes)))]
}

function tooManyKeys(count: number, { host, port }: Endpoint): Failure {
  const message = `The known_hosts of the Secret has ${count} keys for ${knownName(host, port)}, and ${MOST_KEYS} are the most for a host; keep those that it shows.`
  return new Failure('CredentialsInvalid', message)
}

function includesKey(keys: readonly HostKey[], shown: Buffer): boolean {
  return keys.some(({ bytes }) => bytes.equals(shown))
}

function unknown(found: string, { host, port }: Endpoint): Failure {
  return new Failure(
    'HostKeyUnknown',
    `${found}; run \`ssh-keyscan -p ${port} ${host}\`, compare the fingerprint with what the host publishes, and put the line into the Secret (spec.credentials.knownHostsKey) or ask your Commitlet operator to add it to the file of SSH_KNOWN_HOSTS.`,
  )
}

/** The keys that the public hosts publish, as lines of known_hosts. */
const PUBLISHED = HOSTS.flatMap(({ sshNames, sshKeys }) => sshKeys.map((key) => `${sshNames} ${key}`)).join(
  '\n',
)
