import { BlockList, isIPv6 } from 'node:net'

/** An IP address, in any notation, and a port. */
export interface AddressAndPort {
  readonly address: string
  readonly port: number
}

/**
 * All addresses of a host, each of which is allowed at this port; the connection has to go to one of them, because the
 * name may resolve to other addresses a moment later.
 * @throws Failure AddressForbidden if any of them is forbidden, NetworkError if DNS does not know the name or fails,
 * Timeout (or the signal's own Failure) if the signal fires first
 */
export type Resolve = (
  host: string,
  port: number,
  signal: AbortSignal,
  /** Who named the host; left out: the operator. */
  namespace?: string,
) => Promise<readonly string[]>

/** The rules that depend on where the program runs. */
export interface AddressPolicy {
  /** In a pod, loopback leads to the pod's other containers; on a developer's machine to their own servers. */
  readonly inCluster: boolean
  /** Where the API server listens. */
  readonly apiServer: readonly AddressAndPort[]
}

/**
 * Whether Commitlet must never connect to this address and port: link-local, unspecified, multicast and broadcast
 * addresses, metadata services of clouds, in a cluster loopback, the API server, and every IPv6 address that stands for
 * such an IPv4 address. A text that is not an IP address is forbidden as well.
 */
export function isForbidden(
  { address, port }: AddressAndPort,
  { inCluster, apiServer }: AddressPolicy,
): boolean {
  const bytes = bytesOf(address)
  if (bytes === undefined) return true
  const servers = apiServer
    .filter((server) => server.port === port)
    .map((server) => normalised(server.address))
  // As texts of the same form: to read an address takes microseconds, and a name may have 64, each with another one in it.
  return (
    [bytes.join('.'), ...embedded(bytes)].some((form) => servers.includes(form)) ||
    [address, ...embedded(bytes)].some((one) => holds(FORBIDDEN, one) || (inCluster && holds(LOOPBACK, one)))
  )
}

/**
 * The same address, as IPv4 where it is an IPv4-mapped one (RFC 4291, section 2.5.5.2): both lead to the same server, and what counts for
 * one counts for the other.
 */
export function unmapped(address: string): string {
  const bytes = isIPv6(address) ? (bytesOf(address) ?? []) : []
  const isMapped = Buffer.from(bytes.slice(0, 12)).toString('hex') === MAPPED
  return isMapped ? bytes.slice(12).join('.') : address
}

const FORBIDDEN = listOf([
  // RFC 6890: this network, link-local (with the metadata service of most clouds), multicast, broadcast.
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  // Metadata elsewhere: Alibaba Cloud, Azure, Oracle Cloud, AWS (with the credentials of EKS pods), Google Cloud, Scaleway.
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fd00:42::42', 128],
])
const LOOPBACK = listOf([
  ['127.0.0.0', 8],
  ['::1', 128],
])

function listOf(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList()
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, familyOf(net))
  return list
}

function holds(list: BlockList, address: string): boolean {
  return list.check(withoutZone(address), familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '')
}

/** One text for all notations of an address. */
function normalised(address: string): string {
  return bytesOf(address)?.join('.') ?? ''
}

/** The 4 or 16 bytes of an address, as the URL parser (WHATWG) reads it; undefined for anything else. */
function bytesOf(address: string): readonly number[] | undefined {
  const plain = withoutZone(address)
  if (!isIPv6(plain)) return /^\d+(\.\d+){3}$/.test(plain) ? ipv4Bytes(plain) : undefined
  const host = URL.parse(`http://[${plain}]`)?.hostname.slice(1, -1) ?? ''
  const [head = '', tail] = host.split('::')
  const [before, after] = [words(head), words(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after].flatMap((word) => [word >> 8, word & 0xff])
}

function ipv4Bytes(text: string): readonly number[] | undefined {
  const bytes = text.split('.').map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : undefined
}

function words(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16))
}

/** The hex digits that an IPv4-mapped address begins with. */
const MAPPED = '00000000000000000000ffff'
/** IPv6 addresses that contain an IPv4 address: the hex digits they begin with, and the IPv4 address's first byte. */
const EMBEDDINGS = [
  // IPv4-mapped and IPv4-compatible (RFC 4291), IPv4-translated (RFC 2765).
  [MAPPED, 12],
  ['000000000000000000000000', 12],
  ['0000000000000000ffff0000', 12],
  // NAT64 (RFC 6052), and its prefix for local use (RFC 8215), there as a /96.
  ['0064ff9b0000000000000000', 12],
  ['0064ff9b0001', 12],
  // 6to4 (RFC 3056).
  ['2002', 2],
] as const

/** The IPv4 addresses that an IPv6 address may lead to. */
function embedded(bytes: readonly number[]): readonly string[] {
  if (bytes.length !== 16) return []
  const hex = Buffer.from(bytes).toString('hex')
  // Teredo has it inverted (RFC 4380), ISATAP after a fixed interface identifier (RFC 5214).
  const teredo = hex.startsWith('20010000') ? [bytes.slice(12).map((byte) => byte ^ 0xff)] : []
  const isatap = /^.{16}0[02]005efe/.test(hex) ? [bytes.slice(12)] : []
  const others = EMBEDDINGS.filter(([prefix]) => hex.startsWith(prefix)).map(([, at]) =>
    bytes.slice(at, at + 4),
  )
  // ::1 is loopback, not the IPv4-compatible form of 0.0.0.1.
  const found = hex === LOOPBACK_HEX ? [] : [...others, ...teredo, ...isatap]
  return found.map((quad) => quad.join('.'))
}

const LOOPBACK_HEX = '1'.padStart(32, '0')
