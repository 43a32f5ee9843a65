import type { Release } from '../../domain/network/budget.ts'

/** A session of which processes of git take memory. */
export interface WatchedSession {
  readonly namespace: string
  /** Ends its processes. */
  readonly end: () => void
}

/** The memory of the pod. */
export interface PodMemory {
  /** MiB that nobody uses now. */
  readonly freeMiB: () => number
  /** Where less is free, sessions are ended. */
  readonly leastMiB: number
}

/** Watches a session until the returned function is called. */
export type WatchMemory = (session: WatchedSession) => Release

const EVERY_MS = 100
/** What the end of a session leaves, at least: git-remote-https, and little else. */
const FREED_MIB = 10

/**
 * Ends sessions before the pod has no memory left: the kernel then ends all processes of the container together (cgroup v2,
 * as kubelets set it since Kubernetes 1.28), and a session may take more than its share counts. The namespace with the most
 * sessions gives first, and of these the last one.
 */
export function watchMemory({ freeMiB, leastMiB }: PodMemory): WatchMemory {
  const sessions = new Set<WatchedSession>()
  let timer: NodeJS.Timeout | undefined

  function remove(session: WatchedSession): void {
    if (sessions.delete(session) && sessions.size === 0) clearInterval(timer)
  }

  function look(): void {
    const missing = Math.ceil((leastMiB - freeMiB()) / FREED_MIB)
    for (let left = missing; left > 0 && sessions.size > 0; left -= 1) {
      const session = lastOfMost([...sessions])
      remove(session)
      session.end()
    }
  }

  return function watch({ namespace, end }) {
    const session = { namespace, end }
    if (sessions.size === 0) timer = setInterval(look, EVERY_MS)
    sessions.add(session)
    return () => remove(session)
  }
}

function lastOfMost(sessions: readonly WatchedSession[]): WatchedSession {
  const counts = new Map<string, number>()
  for (const { namespace } of sessions) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
  const countOf = ({ namespace }: WatchedSession): number => counts.get(namespace) ?? 0
  return sessions.reduce((chosen, session) => (countOf(session) >= countOf(chosen) ? session : chosen))
}
