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

/** The keys of one host in a known_hosts file, each once. */
export interface KnownHost {
  readonly known: readonly HostKey[]
  /** Marked `@revoked`: never accepted, even if another line has the key. */
  readonly revoked: readonly HostKey[]
}

/** Types of host keys that are read; other lines are ignored. */
const TYPES = ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521', 'ssh-rsa']
const SSH_PORT = 22
/** Of SHA-1, and of its salt. */
const HASH_BYTES = 20
const STAR = 0x2a
const QUESTION_MARK = 0x3f

/**
 * Reads the keys of the host from text in the format of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT": lists, `*`, `?`, `!`,
 * `[host]:port`, hashed names, `@revoked`. A line without a port applies only to port 22. Comments, broken lines and
 * `@cert-authority` (host certificates are not supported) are ignored.
 */
export function readKnownHosts(text: string, { host, port }: Authority): KnownHost {
  const name = knownName(host, port)
  const entries = text.split(/\r\n|\r|\n/).flatMap((line) => readEntry(line, name))
  return {
    known: keysMarked('', entries),
    revoked: keysMarked('@revoked', entries),
  }
}

function keysMarked(wanted: string, entries: readonly Entry[]): readonly HostKey[] {
  const marked = entries.filter(({ marker }) => marker === wanted)
  return [...new Map(marked.map(({ key }) => [key.bytes.toString('latin1'), key])).values()]
}

/** The same as known_hosts text, only for this host. */
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

/** A host as known_hosts names it: in brackets and with the port, unless that is SSH's default. */
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
  if (names.startsWith('#') || !TYPES.includes(type) || !appliesTo(names, name)) return []
  const bytes = Buffer.from(base64, 'base64')
  return typeOf(bytes) === type ? [{ marker, key: { type, bytes } }] : []
}

/** The type that a key contains; undefined if the bytes are not a key. */
export function typeOf(key: Buffer): string | undefined {
  try {
    return readWire(key).text()
  } catch {
    return undefined
  }
}

// One `!` pattern that matches overrides all others.
function appliesTo(names: string, name: string): boolean {
  const [negated, others] = [true, false].map((isNegated) =>
    names.split(',').filter((pattern) => pattern.startsWith('!') === isNegated),
  )
  if (negated?.some((pattern) => matches(pattern.slice(1), name)) === true) return false
  return others?.some((pattern) => matches(pattern, name)) === true
}

function matches(pattern: string, name: string): boolean {
  if (pattern.startsWith('|1|')) return matchesHash(pattern, name)
  return matchesGlob(pattern.toLowerCase(), name)
}

// HMAC-SHA1 with the salt as its key, as `ssh-keygen -H` writes it.
function matchesHash(pattern: string, name: string): boolean {
  const [, , ...parts] = pattern.split('|')
  const [salt, wanted] = parts.map((part) => Buffer.from(part, 'base64'))
  // OpenSSH takes no other lengths. They are read first, because a line may have thousands of such names.
  if (salt?.length !== HASH_BYTES || wanted?.length !== HASH_BYTES) return false
  return timingSafeEqual(wanted, createHmac('sha1', salt).update(name).digest())
}

// Not with a regular expression: users write the patterns, and many stars would make it take exponential time.
function matchesGlob(pattern: string, name: string): boolean {
  let [at, star, resume] = [0, -1, 0]
  for (let i = 0; i < name.length;) {
    const sign = pattern.charCodeAt(at)
    if (sign === STAR) {
      star = at++
      resume = i
    } else if (sign === QUESTION_MARK || sign === name.charCodeAt(i)) {
      at += 1
      i += 1
    } else if (star >= 0) {
      at = star + 1
      i = ++resume
    } else return false
  }
  return /^\**$/.test(pattern.slice(at))
}
