import { Failure } from '../failure.ts'

/** A parsed repository address: all checks use it, and Git is called with its text. */
export interface RepositoryAddress {
  /** `http` is only for the hosts of INSECURE_HOSTS: the gate denies it for all others. */
  readonly scheme: 'https' | 'http' | 'ssh'
  /** User of an SSH address. */
  readonly user: string | undefined
  /** Lower-case name or canonical IP address; IPv6 without brackets. */
  readonly host: string
  /** Always set: the scheme's default if the address has none. */
  readonly port: number
  /** Segments of the path, the last one without `.git`. */
  readonly segments: readonly string[]
  /** The address exactly as written; Git is called with it. */
  readonly text: string
}

/** Host (IPv6 without brackets) and, if it is given, port. */
export interface Authority {
  readonly host: string
  readonly port: number | undefined
}

/** Maximum characters of an address, as in the schema of `spec.repository`. */
const MAX_CHARACTERS = 2048

/** The port of a scheme if an address has none. */
export const DEFAULT_PORTS = { https: 443, http: 80, ssh: 22 } as const

/**
 * Reads `spec.repository`: `https://host[:port]/path[.git]`, `ssh://user@host[:port]/path[.git]` or
 * `user@host:path[.git]`. Throws InvalidSpec for everything that is not equal to its own serialisation, so that the
 * checks and Git never see different addresses. For this reason an explicit default port is refused as well. The
 * message never repeats the address, which may contain a password.
 */
export function parseRepositoryAddress(text: string): RepositoryAddress {
  if (text.length > MAX_CHARACTERS)
    throw invalid(
      `has ${text.length} characters, but at most ${MAX_CHARACTERS} are allowed; write a shorter one.`,
    )
  const unexpected = unexpectedCharacter(text)
  if (unexpected !== undefined)
    throw invalid(`contains ${unexpected}; ${text.includes('%') ? ESCAPED : EXAMPLE}.`)
  const parsed = parseForm(text)
  const plain = serialise(parsed, text)
  if (plain !== text) throw invalid(`is not written in its plain form; write ${plain} instead.`)
  return parsed
}

/** Reads `host[:port]`; undefined if the host is neither a lower-case ASCII name nor a canonical IP address. */
export function parseAuthority(text: string): Authority | undefined {
  const [, written, digits] = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::([0-9]{1,5}))?$/.exec(text) ?? []
  if (written === undefined || !isCanonicalHost(written)) return undefined
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  return { host: unbracketed(written), port }
}

/** Writes `host[:port]`, without the port if it is the default one. */
export function writeAuthority({ host, port }: Authority, defaultPort?: number): string {
  return port === undefined || port === defaultPort ? bracketed(host) : `${bracketed(host)}:${port}`
}

/** A host as a URL writes it: IPv6 in brackets (RFC 3986, 3.2.2). */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The host of a URL without the brackets of IPv6. */
export function unbracketed(host: string): string {
  return host.replace(/[[\]]/g, '')
}

/** The segments of a path, the last without `.git`; undefined if one is empty, `.`, `..` or has other characters. */
export function parseSegments(path: string): readonly string[] | undefined {
  const segments = path.replace(/\.git$/, '').split('/')
  const sound = segments.every((segment) => /^[A-Za-z0-9._~{}+-]+$/.test(segment) && !/^\.\.?$/.test(segment))
  return sound ? segments : undefined
}

/** Whether this can be the user of an SSH address. */
export function isSSHUser(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/.test(text)
}

const EXAMPLE = 'write an address such as https://git.example.com/acme/shop.git'
const ESCAPED =
  'rename what has a space or the like in its name, or write its ID where the host takes that, as Azure DevOps does for projects'

function invalid(complaint: string): Failure {
  return new Failure('InvalidSpec', `spec.repository ${complaint}`)
}

function unexpectedCharacter(text: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return 'white space or a control character'
  if (/[^\x21-\x7e]/u.test(text)) return 'letters beyond ASCII (write the host in its xn-- form)'
  const found = /[%?#\\]/.exec(text)?.[0]
  return found === undefined ? undefined : `"${found}"`
}

function parseForm(text: string): RepositoryAddress {
  const [, scheme, authority, path] = /^([A-Za-z0-9+.-]+):\/\/([^/]*)\/?(.*)$/.exec(text) ?? []
  if (scheme === undefined || authority === undefined || path === undefined) return parseShort(text)
  if (scheme === 'https' || scheme === 'http') return parseWeb(text, scheme, { authority, path })
  if (scheme === 'ssh') {
    const [, user, hostAndPort] = /^([^@]*)@(.*)$/.exec(authority) ?? []
    return parseSSH(text, { user, authority: hostAndPort ?? '', path })
  }
  throw invalid(`begins with another scheme than https:// or ssh://; ${EXAMPLE}.`)
}

function parseWeb(
  text: string,
  scheme: 'https' | 'http',
  { authority, path }: { readonly authority: string; readonly path: string },
): RepositoryAddress {
  if (authority.includes('@')) {
    throw invalid(
      'has a user name or a password before the host, which belong into the Secret of spec.credentials; leave it out.',
    )
  }
  const { host, port } = requireAuthority(authority)
  const segments = requireSegments(path)
  return { scheme, user: undefined, host, port: port ?? DEFAULT_PORTS[scheme], segments, text }
}

// The short form of git-clone(1), "GIT URLS".
function parseShort(text: string): RepositoryAddress {
  const [, user, authority, path] = /^([^@/:]*)@(\[[^\]]*\]|[^:/]*):(.*)$/.exec(text) ?? []
  if (authority === undefined || path === undefined)
    throw invalid(`is not an address of a repository; ${EXAMPLE}.`)
  if (path.startsWith('-'))
    throw invalid('has a path that begins with "-", which Git would read as an option.')
  return parseSSH(text, { user, authority, path })
}

function parseSSH(
  text: string,
  parts: { readonly user: string | undefined; readonly authority: string; readonly path: string },
): RepositoryAddress {
  if (parts.user === undefined || !isSSHUser(parts.user)) {
    throw invalid(
      'does not name the SSH user, and nothing else, before the host; write an address such as git@git.example.com:acme/shop.git.',
    )
  }
  const { host, port } = requireAuthority(parts.authority)
  const segments = requireSegments(parts.path)
  return { scheme: 'ssh', user: parts.user, host, port: port ?? DEFAULT_PORTS.ssh, segments, text }
}

function requireAuthority(text: string): Authority {
  const authority = parseAuthority(text)
  if (authority !== undefined) return authority
  throw invalid(
    'names no host that can be used; write a lower-case name without a dot at its end, or an IP address in its ' +
      'usual form, and a port from 1 to 65535 or none.',
  )
}

function requireSegments(path: string): readonly string[] {
  const segments = parseSegments(path)
  if (segments !== undefined) return segments
  throw invalid(
    'has a path with an empty part, ".", ".." or a character other than letters, digits and "._~{}+-"; ' +
      'write the path of the repository as its host shows it.',
  )
}

function serialise(address: RepositoryAddress, text: string): string {
  const { scheme, user, host, segments } = address
  const path = segments.join('/') + (text.endsWith('.git') ? '.git' : '')
  const login = user === undefined ? '' : `${user}@`
  if (!text.startsWith(`${scheme}://`)) return `${login}${bracketed(host)}:${path}`
  return `${scheme}://${login}${writeAuthority(address, DEFAULT_PORTS[scheme])}/${path}`
}

// Labels as in RFC 1123, section 2.1; the URL parser (WHATWG) then detects IP addresses that look like names.
function isCanonicalHost(written: string): boolean {
  const isName = written.length <= 253 && /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.(?!$)|$))+$/.test(written)
  if (!isName && !written.startsWith('[')) return false
  // Without a last label of digits and without Punycode a name is nothing else to that parser, which is slow.
  if (isName && !/(?:^|\.)(?:[0-9][a-z0-9-]*$|xn--)/.test(written)) return true
  return URL.parse(`https://${written}`)?.hostname === written
}
