import { LRUCache } from 'lru-cache'
import type { Allowance } from '../../domain/sharing/allowance.ts'
import { openLine, type Line } from './line.ts'

/** What a namespace may do at a host, or at a server by another name. */
export interface Place<Tried> {
  readonly name: string
  /** Of log-ins that fail. */
  readonly allowance: Allowance
  /** Of those among them that had worked at the same repository before. */
  readonly trusted: Allowance
  /** Logins that are being tried and have not worked yet. */
  readonly tried: Set<Tried>
  /** Those who wait until one of these has ended. */
  readonly line: Line
}

/** Where a log-in counts: at the host, and at other names of its server. */
interface Where {
  readonly namespace: string
  readonly host: string
  readonly servers?: readonly string[] | undefined
}

/** The places of each namespace at which a log-in is being tried, or has failed. */
export interface Places<Tried> {
  /** Those of a log-in, each once. New ones are not kept yet. */
  of(where: Where): readonly Place<Tried>[]
  keep(namespace: string, places: readonly Place<Tried>[]): void
  /** Forgets those of them that are as new ones would be. */
  forget(namespace: string, places: Iterable<Place<Tried>>): void
}

/** Most namespaces with failures; beyond that the least recently used one is forgotten. */
const NAMESPACES = 1_000
/** Most places of a namespace with failures, beyond which all others count as one until these are over: none is forgotten. */
const MOST_PLACES = 500
/**
 * As many as a name may have addresses. Beyond this, all other names of a server count as one, which those of the namespace
 * share that have as many.
 */
const MOST_NAMES = 64
const MANY = 'many names'

/** Opens places without any; `makeAllowance` makes that of a new one, of which `most` are left. */
export function openPlaces<Tried>(most: number, makeAllowance: () => Allowance): Places<Tried> {
  const kept = new LRUCache<string, Map<string, Place<Tried>>>({ max: NAMESPACES })

  function makePlace(name: string): Place<Tried> {
    return { name, allowance: makeAllowance(), trusted: makeAllowance(), tried: new Set(), line: openLine() }
  }

  function forget(namespace: string, places: Iterable<Place<Tried>>): void {
    const own = kept.get(namespace)
    for (const place of places) {
      const { name, allowance, trusted, tried } = place
      const isNew = tried.size === 0 && allowance.left() >= most && trusted.left() >= most
      if (own?.get(name) === place && isNew) own.delete(name)
    }
    if (own?.size === 0) kept.delete(namespace)
  }

  return {
    of({ namespace, host, servers = [] }) {
      const own = kept.get(namespace)
      if (own !== undefined && own.size >= MOST_PLACES) forget(namespace, own.values())
      const hasRoom = own === undefined || own.size < MOST_PLACES
      const listed = servers.length > MOST_NAMES ? [...servers.slice(0, MOST_NAMES), MANY] : servers
      const names = [host, ...listed].map((name) => (hasRoom || own.has(name) ? name : MANY))
      return [...new Set(names)].map((name) => own?.get(name) ?? makePlace(name))
    },
    keep(namespace, places) {
      const own = kept.get(namespace) ?? new Map<string, Place<Tried>>()
      for (const place of places) own.set(place.name, place)
      kept.set(namespace, own)
    },
    forget,
  }
}
