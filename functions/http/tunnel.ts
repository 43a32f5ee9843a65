import type { Socket } from 'node:net'
import type { Proxy } from '../domain/network/proxies.ts'
import { openTunnel } from '../net/tunnel.ts'
import type { Way } from './connection.ts'
import { proxyFailure, proxyRefusal } from './connection-failures.ts'

/**
 * Opens a connection to the API's host through the proxy.
 * @throws Failure NetworkError, Timeout, TLSUntrusted where the proxy's own certificate is not trusted, and
 * AddressForbidden where it refuses the host
 */
export async function openThroughProxy(way: Way, proxy: Proxy): Promise<Socket> {
  const { destination, trust, place, signal } = way
  const opened = await openTunnel(destination, { proxy, trust, signal }).catch((error: unknown) => {
    throw proxyFailure(error, place)
  })
  if (typeof opened === 'number') throw proxyRefusal(opened, place)
  return opened
}
