import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** A login, and for whom it writes. */
export interface KnownWriter {
  /** An identity. */
  readonly login: string
  /** Those of its changes: what another one makes a pod remember makes it forget nothing of theirs. */
  readonly namespaces: Iterable<string>
}

/** Which logins have moved a branch, for which namespaces. */
export interface KnownWriters {
  /** Whether it has moved the branch of this key for one of these namespaces. */
  readonly has: (branch: string, writer: KnownWriter) => boolean
  readonly add: (branch: string, writer: KnownWriter) => void
}

/** Most logins and branches of a namespace that are remembered; beyond that the least recently used one is forgotten. */
const REMEMBERED = 500
/** The same of namespaces. */
const NAMESPACES = 1_000

/** Begins with none. */
export function rememberWriters(): KnownWriters {
  const known = new LRUCache<string, Set<string>>({ max: NAMESPACES })
  return {
    has(branch, { login, namespaces }) {
      const name = nameOf(branch, login)
      return [...namespaces].some((namespace) => known.get(namespace)?.has(name) === true)
    },
    add(branch, { login, namespaces }) {
      const name = nameOf(branch, login)
      for (const namespace of namespaces) known.set(namespace, withLatest(known.get(namespace), name))
    },
  }
}

/** Short: an address may have 2,048 characters. */
function nameOf(branch: string, login: string): string {
  return createHash('sha256').update(`${login} ${branch}`).digest('base64')
}

/** The last one was used last. */
function withLatest(names: Set<string> | undefined, name: string): Set<string> {
  const [oldest] = names ?? []
  if (names?.delete(name) === false && names.size >= REMEMBERED) names.delete(oldest ?? '')
  return (names ?? new Set()).add(name)
}
