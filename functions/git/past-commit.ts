import type { SoughtCommit } from './remote.ts'

/** Generations that are fetched, one after the other, where dates are of no help. */
export const GENERATIONS = [50, 500, 5_000] as const

/** What the trailers of a commit say of the request that it is for. */
export interface PastTrailers {
  /** Values of `Commitlet-Id`. */
  readonly ids: readonly string[]
  /** Values of `Commitlet-Seal`. */
  readonly seals: readonly string[]
}

/**
 * Whether a commit says that it is for this request, and has a seal for it. Some hosts join the messages of several commits
 * to one, so that any of its seals may be the one: each holds for one id.
 */
export function isFor({ ids, seals }: PastTrailers, sought: SoughtCommit): boolean {
  if (!ids.includes(sought.id)) return false
  return sought.seals === undefined || sought.seals.some((seal) => seals.includes(seal))
}
