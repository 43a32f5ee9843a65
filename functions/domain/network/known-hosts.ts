import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Authority } from '../repository/address.ts'
import { readWire } from './ssh-wire.ts'

/** One key of a host. */
export interface HostKey {
  /** Such as ssh-ed25519. */
  readonly type: string
  /** As the server sends it (RFC 4253, section 6.6). */
  readonly bytes: Buffer
}

/** What a known_hosts file says of one host. */
export interface KnownHost {
  readonly known: readonly HostKey[]
  /** Marked `@revoked`: never to be taken, whatever else is said. */
  readonly revoked: readonly HostKey[]
}

/** Types of host keys that are read; each other line is passed over. */
const TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']
const SSH_PORT = 22

/**
 * Reads what the text says of the host, as sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT", has it: lists, `*`, `?`, `!`,
 * `[host]:port`, hashed names, `@revoked`. A line without a port holds for port 22 alone. Comments, lines that are
 * broken and `@cert-authority` (host certificates are not supported) are passed over.
 */
export function readKnownHosts(text: string, { host, port }: Authority): KnownHost {
  const name = knownName(host, port)
  const entries = text.split(/\r\n|\r|\n/).flatMap((line) => readEntry(line, name))
  return {
    known: entries.filter(({ marker }) => marker === '').map(({ key }) => key),
    revoked: entries.filter(({ marker }) => marker === '@revoked').map(({ key }) => key),
  }
}

/** The same as known_hosts text, for this host alone. */
export function writeKnownHosts({ known, revoked }: KnownHost, { host, port }: Authority): string {
  const name = knownName(host, port)
  const lines = [
    ...known.map((key) => ['', key] as const),
    ...revoked.map((key) => ['@revoked ', key] as const),
  ]
  return lines
    .map(([marker, { type, bytes }]) => `${marker}${name} ${type} ${bytes.toString('base64')}\n`)
    .join('')
}

/** A host as known_hosts names it: with the port in brackets, unless that is SSH's own. */
export function knownName(host: string, port: number | undefined): string {
  const lower = host.toLowerCase()
  return port === undefined || port === SSH_PORT ? lower : `[${lower}]:${port}`
}

/** `SHA256:` and the hash in base64 without padding, as ssh-keygen(1), `-l`, and the hosts' own pages show it. */
export function fingerprintOf(key: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

interface Entry {
  readonly marker: string
  readonly key: HostKey
}

function readEntry(line: string, name: string): readonly Entry[] {
  const fields = line.trim().split(/[ \t]+/)
  const marker = fields[0]?.startsWith('@') === true ? (fields.shift() ?? '') : ''
  const [names = '', type = '', base64 = ''] = fields
  if (names.startsWith('#') || !TYPES.includes(type) || !holdsFor(names, name)) return []
  const bytes = Buffer.from(base64, 'base64')
  return typeOf(bytes) === type ? [{ marker, key: { type, bytes } }] : []
}

/** The type that a key says of itself; undefined where the bytes are no key. */
export function typeOf(key: Buffer): string | undefined {
  try {
    return readWire(key).text()
  } catch {
    return undefined
  }
}

// One `!` that fits outweighs all others.
function holdsFor(names: string, name: string): boolean {
  const patterns = names.split(',')
  if (patterns.some((pattern) => pattern.startsWith('!') && fits(pattern.slice(1), name))) return false
  return patterns.some((pattern) => fits(pattern, name))
}

function fits(pattern: string, name: string): boolean {
  if (pattern.startsWith('|1|')) return fitsHash(pattern, name)
  return fitsGlob(pattern.toLowerCase(), name)
}

// HMAC-SHA1 with the salt as its key, as `ssh-keygen -H` writes it.
function fitsHash(pattern: string, name: string): boolean {
  const [, , salt = '', hash = ''] = pattern.split('|')
  const wanted = Buffer.from(hash, 'base64')
  const found = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
  return wanted.length === found.length && timingSafeEqual(wanted, found)
}

// Not by a regular expression: many stars would take one for ever, and anybody may write them.
function fitsGlob(pattern: string, name: string): boolean {
  let [at, star, resume] = [0, -1, 0]
  for (let i = 0; i < name.length;) {
    if (pattern[at] === '*') [star, resume] = [at++, i]
    else if (pattern[at] === '?' || pattern[at] === name[i]) [at, i] = [at + 1, i + 1]
    else if (star >= 0) [at, i] = [star + 1, ++resume]
    else return false
  }
  return /^\**$/.test(pattern.slice(at))
}
