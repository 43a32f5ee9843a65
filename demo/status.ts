import { envelopeOf } from '../functions/domain/resource/envelope.ts'
import type { Phase } from '../functions/domain/resource/resource.ts'
import type { Printer } from './print.ts'

/** What the demo shows of a resource. */
export interface Glance {
  readonly namespace: string
  readonly name: string
  readonly phase: Phase | undefined
  readonly ready: string
  readonly reason: string
  readonly branch: string
  readonly commit: string
  readonly message: string
}

/** Reads that from a stored resource. */
export function glanceAt(resource: unknown): Glance {
  const { metadata, status } = envelopeOf(resource)
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    phase: status?.phase,
    ready: ready?.status ?? '',
    reason: ready?.reason ?? '',
    branch: status?.commit?.branch ?? '',
    commit: status?.commit?.shortSHA ?? '',
    message: ready?.message ?? '',
  }
}

/** Does nothing more happen by itself? */
export function isSettled({ phase }: Glance): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

/** The table of `kubectl get gitcommits -o wide`, without the times. */
export function printGlances(glances: readonly Glance[], print: Printer): void {
  print.table(
    ['NAME', 'READY', 'REASON', 'BRANCH', 'COMMIT', 'MESSAGE'],
    glances.map(({ name, ready, reason, branch, commit, message }) => [
      name,
      ready,
      reason,
      branch,
      commit,
      message,
    ]),
  )
}

/** One sentence about those that did not succeed; undefined where all did. */
export function complaintOf(glances: readonly Glance[]): string | undefined {
  const others = glances.filter(({ phase }) => phase !== 'Succeeded')
  const [first] = others
  if (first === undefined) return undefined
  const why = first.message === '' ? 'it has no status yet.' : first.message
  return `${others.length} of ${glances.length} GitCommits did not succeed; ${first.name}: ${why}`
}
