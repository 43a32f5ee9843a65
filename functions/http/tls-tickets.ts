import type { SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'

/** TLS sessions of earlier connections: with one of them, a handshake is shorter (RFC 8446, 2.2). */
export interface TLSTickets {
  /** The latest session for this server and these authorities. */
  get(key: TicketKey): Buffer | undefined
  set(key: TicketKey, session: Buffer): void
}

/**
 * What a session holds for. It is resumed without a look at the certificate, so everything that its check depends on
 * is part of the key.
 */
export interface TicketKey {
  readonly host: string
  readonly port: number
  /** Whether any certificate was accepted. */
  readonly insecure: boolean
  readonly trust: SecureContext
}

const MOST = 256
/** A certificate is checked again at least as often; servers' own limits are mostly hours. */
const LIFETIME_MS = 10 * 60_000

/** Remembers sessions in memory, up to 256 servers for each set of authorities, for ten minutes. */
export function rememberTickets(): TLSTickets {
  const byTrust = new WeakMap<SecureContext, LRUCache<string, Buffer>>()
  return {
    get: (key) => byTrust.get(key.trust)?.get(nameOf(key)),
    set(key, session) {
      const known = byTrust.get(key.trust) ?? new LRUCache<string, Buffer>({ max: MOST, ttl: LIFETIME_MS })
      byTrust.set(key.trust, known)
      known.set(nameOf(key), session)
    },
  }
}

function nameOf({ host, port, insecure }: TicketKey): string {
  return JSON.stringify([host, port, insecure])
}
