import type { Resolve } from './address-policy.ts'
import type { Authority, RepositoryAddress } from '../repository/address.ts'
import { isInsecure } from '../repository/insecure-hosts.ts'
import type { Proxies, Proxy } from './proxies.ts'
import { proxyFor } from './proxies.ts'
import type { HandshakeShares, Share } from './share.ts'

/** How a host is reached. */
export interface Route {
  /** The addresses for the connection, all checked; undefined: the proxy looks up the host and decides. */
  readonly addresses: readonly string[] | undefined
  /** Undefined: a direct connection. */
  readonly proxy: Proxy | undefined
  /** The operator accepts any certificate of this host. */
  readonly insecure: boolean
  /** In which what the host sends in a TLS handshake is checked; left out: at once. */
  readonly share?: Share
}

/** The host to call. */
export type Destination = Pick<RepositoryAddress, 'scheme' | 'host' | 'port'>

/** The operator's settings for routes. */
export interface RouteSettings {
  readonly resolve: Resolve
  readonly proxies: Proxies
  readonly insecureHosts: readonly Authority[]
  /** Left out: handshakes are read at once. */
  readonly handshakes?: HandshakeShares
}

/**
 * Finds the route; each session calls this again, because addresses may change. `namespace`: whose look-up it is.
 * @throws Failure what Resolve throws
 */
export async function findRoute(
  address: Destination,
  routeSettings: RouteSettings,
  signal: AbortSignal,
  namespace?: string,
): Promise<Route> {
  const insecure = isInsecure(address, routeSettings.insecureHosts)
  const proxy = proxyFor(address, routeSettings.proxies)
  if (proxy !== undefined) return { addresses: undefined, proxy, insecure }
  const addresses = await routeSettings.resolve(address.host, address.port, signal, namespace)
  return { addresses, proxy, insecure }
}
