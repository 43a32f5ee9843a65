import { envelopeOf } from '../functions/domain/resource/envelope.ts'
import type { Phase } from '../functions/domain/resource/stored-status.ts'
import type { Printer } from './print.ts'

/** What the demo shows of a resource. */
export interface ResourceSummary {
  readonly namespace: string
  readonly name: string
  readonly phase: Phase | undefined
  readonly ready: string
  readonly reason: string
  readonly branch: string
  readonly commit: string
  readonly message: string
}

/** Reads the summary from a stored resource. */
export function summaryOf(resource: unknown): ResourceSummary {
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

/** Whether no further attempt starts automatically. */
export function isSettled({ phase }: ResourceSummary): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

/** The table of `kubectl get gitcommits -o wide`, without the times. */
export function printSummaries(summaries: readonly ResourceSummary[], print: Printer): void {
  print.table(
    ['NAME', 'READY', 'REASON', 'BRANCH', 'COMMIT', 'MESSAGE'],
    summaries.map(({ name, ready, reason, branch, commit, message }) => [
      name,
      ready,
      reason,
      branch,
      commit,
      message,
    ]),
  )
}

/** One sentence about the GitCommits that did not succeed; undefined if all did. */
export function complaintOf(summaries: readonly ResourceSummary[]): string | undefined {
  const failed = summaries.filter(({ phase }) => phase !== 'Succeeded')
  const [first] = failed
  if (first === undefined) return undefined
  const why = first.message === '' ? 'it has no status yet.' : first.message
  return `${failed.length} of ${summaries.length} GitCommits did not succeed; ${first.name}: ${why}`
}
