import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { Agent, ProxyAgent } from 'undici'
import type { Dispatcher } from 'undici'
import type { Proxy } from '../domain/proxies.ts'
import type { Reach } from '../domain/reach.ts'

/** Most bytes of an answer. */
const LARGEST_ANSWER = 8 * 1024 * 1024
/** Milliseconds until a connection stands, and between two pieces of an answer. */
const CONNECT_PATIENCE = 15_000
const PATIENCE = 30_000

/** Connections to one API: to the checked addresses only, or through the proxy. Whoever makes one closes it. */
export function openDispatcher(reach: Reach, ca: readonly string[]): Dispatcher {
  const trust = { ca: [...ca], rejectUnauthorized: !reach.insecure }
  const bounds = { maxResponseSize: LARGEST_ANSWER, headersTimeout: PATIENCE, bodyTimeout: PATIENCE }
  const { addresses, proxy } = reach
  if (proxy !== undefined) {
    return new ProxyAgent({
      ...bounds,
      uri: `${proxy.scheme}://${authority(proxy)}`,
      ...(proxy.username === '' && proxy.password === '' ? {} : { token: basic(proxy) }),
      requestTls: { ...trust, timeout: CONNECT_PATIENCE },
      proxyTls: { ca: [...ca], timeout: CONNECT_PATIENCE },
    })
  }
  const lookup = pinned(addresses ?? [])
  return new Agent({
    ...bounds,
    connect: { ...trust, lookup, autoSelectFamily: true, timeout: CONNECT_PATIENCE },
  })
}

/** Whatever the name means by now, the connection goes to an address that was checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  return function lookup(_host, options, answer) {
    const [first] = checked
    if (options.all === true) answer(null, checked)
    else answer(null, first?.address ?? '', first?.family)
  }
}

function authority({ host, port }: Proxy): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

function basic({ username, password }: Proxy): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
