import type { Release } from '../../domain/network/budget.ts'

/** A session of which processes of git take memory. */
export interface WatchedSession {
  readonly namespace: string
  /** MiB that they may take now. */
  readonly mayHoldMiB: () => number
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
/** The part of what a session may hold that its end leaves, at least: git-remote-https, and little else. */
const FREED = 1 / 4

/**
 * Ends sessions before the pod has no memory left: the kernel then ends all processes of the container together (cgroup v2,
 * as kubelets set it since Kubernetes 1.28), and a session may take more than its share counts. The namespace of which the sessions
 * may hold most gives first, and of these the last one.
 */
export function watchMemory({ freeMiB, leastMiB }: PodMemory): WatchMemory {
  const sessions = new Set<WatchedSession>()
  let timer: NodeJS.Timeout | undefined

  function remove(session: WatchedSession): void {
    if (sessions.delete(session) && sessions.size === 0) clearInterval(timer)
  }

  function look(): void {
    for (let missing = leastMiB - freeMiB(); missing > 0 && sessions.size > 0;) {
      const session = lastOfMost([...sessions])
      missing -= session.mayHoldMiB() * FREED
      remove(session)
      session.end()
    }
  }

  return function watch(session) {
    const watched = { ...session }
    if (sessions.size === 0) timer = setInterval(look, EVERY_MS)
    sessions.add(watched)
    return () => remove(watched)
  }
}

function lastOfMost(sessions: readonly WatchedSession[]): WatchedSession {
  const held = new Map<string, number>()
  for (const { namespace, mayHoldMiB } of sessions)
    held.set(namespace, (held.get(namespace) ?? 0) + mayHoldMiB())
  const heldBy = ({ namespace }: WatchedSession): number => held.get(namespace) ?? 0
  return sessions.reduce((chosen, session) => (heldBy(session) >= heldBy(chosen) ? session : chosen))
}
