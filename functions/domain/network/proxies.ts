import { BlockList, isIP, isIPv6 } from 'node:net'
import { bracketed, parseAuthority, unbracketed } from '../repository/address.ts'
import type { Environment } from '../settings.ts'
import { list, text, WrongSetting } from '../settings.ts'
import { withoutUser } from '../redact.ts'

/** The operator's proxy between Commitlet and the Git hosts. */
export interface Proxy {
  /** With user name and password, if there are any, in the form that Git accepts. Secret. */
  readonly url: string
  readonly scheme: 'http' | 'https'
  /** IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Both empty, or both decoded. */
  readonly username: string
  readonly password: string
}

/** HTTPS_PROXY and NO_PROXY. */
export interface Proxies {
  /** Undefined: every host is called directly. */
  readonly proxy: Proxy | undefined
  /** Entries of NO_PROXY. */
  readonly exceptions: readonly string[]
}

/** The server to call. */
export interface Destination {
  readonly scheme: string
  readonly host: string
  readonly port: number
}

const PORTS = { http: 80, https: 443 } as const

/**
 * Reads HTTPS_PROXY and NO_PROXY, or their lower-case forms if these are unset.
 * Throws WrongSetting, one sentence without the value, which may hold a password.
 */
export function readProxies(env: Environment): Proxies {
  return { proxy: readProxy(env), exceptions: readExceptions(env) }
}

/** The proxy for this destination; undefined: none. Only https uses it. */
export function proxyFor({ scheme, host, port }: Destination, proxies: Proxies): Proxy | undefined {
  if (scheme !== 'https') return undefined
  return proxies.exceptions.some((entry) => covers(entry, { host, port })) ? undefined : proxies.proxy
}

/** The parts of a proxy that must never be shown; none for a direct connection. */
export function secretsOfProxy(proxy: Proxy | undefined): readonly string[] {
  if (proxy === undefined || proxy.password === '') return []
  return [proxy.password, `${proxy.username}:${proxy.password}`]
}

function readProxy(env: Environment): Proxy | undefined {
  const name = env['HTTPS_PROXY'] ? 'HTTPS_PROXY' : 'https_proxy'
  const value = text(env, name, undefined)
  if (value === undefined) return undefined
  const proxy = parseProxy(value)
  if (proxy !== undefined) return proxy
  throw new WrongSetting(
    `${name} has to be the address of an http or https proxy, such as http://user:password@proxy.example.com:3128, but is not.`,
  )
}

// Without a scheme it is http, as in curl and Go.
function parseProxy(value: string): Proxy | undefined {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`)
  const scheme = url?.protocol.slice(0, -1)
  if (url === null || (scheme !== 'http' && scheme !== 'https')) return undefined
  const [username, password] = [decoded(url.username), decoded(url.password)]
  const bare = url.pathname === '/' && url.search === '' && url.hash === '' && !/\s/.test(value)
  if (!bare || username === undefined || password === undefined) return undefined
  const port = url.port === '' ? PORTS[scheme] : Number(url.port)
  // With only a user name, Git would ask for a password.
  const login =
    username === '' && password === ''
      ? ''
      : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`
  return {
    url: `${scheme}://${login}${url.hostname}:${port}`,
    scheme,
    host: unbracketed(url.hostname),
    port,
    username,
    password,
  }
}

/** Undefined for text that cannot be decoded, or that would end a header or a line. */
function decoded(part: string): string | undefined {
  try {
    const plain = decodeURIComponent(part)
    return /\p{Cc}/u.test(plain) ? undefined : plain
  } catch {
    return undefined
  }
}

function readExceptions(env: Environment): readonly string[] {
  const name = env['NO_PROXY'] ? 'NO_PROXY' : 'no_proxy'
  const entries = list(env, name).flatMap((entry) => entry.toLowerCase().split(/\s+/))
  const wrong = entries.find((entry) => !isException(entry))
  if (wrong === undefined) return entries
  throw new WrongSetting(
    `${name} has the entry "${withoutUser(wrong)}", but each has to be a host, a domain, an IP address, a block of them such as 10.0.0.0/8, or *, with or without a port.`,
  )
}

function isException(entry: string): boolean {
  return entry === '*' || blockOf(entry) !== undefined || hostIn(entry) !== undefined
}

/** `host`, `.host` and `*.host` all cover the host and its subdomains, as in curl. */
function covers(entry: string, { host, port }: { readonly host: string; readonly port: number }): boolean {
  if (entry === '*') return true
  const block = blockOf(entry)
  if (block !== undefined) return isIP(host) !== 0 && block.check(host, familyOf(host))
  const named = hostIn(entry)
  if (named === undefined || (named.port ?? port) !== port) return false
  if (isIP(named.host) !== 0) return named.host === host
  return host === named.host || host.endsWith(`.${named.host}`)
}

function hostIn(entry: string): ReturnType<typeof parseAuthority> {
  return parseAuthority(isIPv6(entry) ? bracketed(entry) : entry.replace(/^(\*?\.)/, ''))
}

function blockOf(entry: string): BlockList | undefined {
  const [, net = '', digits] = /^([0-9a-f.:]+)\/([0-9]{1,3})$/.exec(entry) ?? []
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(net)] ?? -1
  if (digits === undefined || Number(digits) > longest) return undefined
  const block = new BlockList()
  block.addSubnet(net, Number(digits), familyOf(net))
  return block
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}
