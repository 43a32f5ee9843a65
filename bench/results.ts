import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Burst } from './burst/burst.ts'
import type { CommitCase } from './commit/measure.ts'
import type { Started } from './start.ts'

/** The groups of measurements, in the order in which they run. */
export const GROUPS = ['start', 'admission', 'pull-requests', 'commit', 'replicas', 'burst'] as const
export type Group = (typeof GROUPS)[number]

/** Calls of one kind that admission answers, and the same without it. */
export interface AdmissionCall {
  /** The call, or `bare` for a server that does nothing, or `without` for a creation without admission. */
  readonly call: string
  readonly count: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** Pull requests that were opened at a host that limits requests. */
export interface PullRequestRun {
  /** Whether limits that were reached are remembered, and waited for. */
  readonly remembers: boolean
  readonly opened: number
  readonly requests: number
  readonly refused: number
  readonly lost: number
  readonly doubled: number
}

/** Under which conditions it was measured. */
export interface Conditions {
  readonly date: string
  readonly node: string
  readonly processor: string
  readonly cores: number
  /** The load average of the last minute, before and after. */
  readonly load: readonly [number, number]
  readonly minutes: number
  readonly form: 'full' | 'short'
}

/** All that one run has measured; a group that was not asked for is empty. */
export interface Results {
  readonly conditions: Conditions
  readonly starts: readonly Started[]
  readonly commits: readonly CommitCase[]
  readonly bursts: readonly Burst[]
  readonly replicas: readonly Burst[]
  readonly admission: readonly AdmissionCall[]
  readonly pullRequests: readonly PullRequestRun[]
  /** What was not measured, and why. */
  readonly skipped: readonly string[]
}

/** The last recorded run: docs/performance.md shows it. */
export const RECORDED = join(import.meta.dirname, 'results/recorded.json')

/** Reads what `writeResults` has written. */
export async function readResults(file: string): Promise<Results> {
  return JSON.parse(await readFile(file, 'utf8')) as Results
}

/** Writes the results as JSON. */
export async function writeResults(file: string, results: Results): Promise<void> {
  await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`)
}
