import { COMMIT_ID_TRAILER } from '../domain/commit/commit-id.ts'
import { COMMIT_SEAL_TRAILER, isSealText } from '../domain/commit/commit-seal.ts'
import { trailerValues } from '../domain/commit/trailers.ts'
import { ownCopy } from '../domain/own-copy.ts'
import type { SoughtCommit } from './remote.ts'

/** Generations that are fetched, one after the other, where dates are of no help. */
export const GENERATIONS = [50, 500, 5_000] as const

/** Characters of the longest message that is searched: one of Commitlet's has at most 64 Ki and the trailers. */
const LONGEST_MESSAGE = 128 * 1024
/** Bytes that so many characters may take in UTF-8. Text of more takes 4 ms for each MiB, and of what is none 10. */
const LONGEST_MESSAGE_BYTES = 3 * LONGEST_MESSAGE
/** Of the longest id: a uid, which is a UUID, a generation and a digest. */
const LONGEST_ID = 100
/** Ids of one commit: some hosts join the messages of several to one. */
const MOST_IDS = 16
/** Each has up to three. */
const MOST_SEALS = 3 * MOST_IDS

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

/** The values of the trailers of a message, as Git reads them (the git binary finds a commit by any); none of one that is too long. */
export function trailersOf(bytes: Buffer): PastTrailers {
  const message = bytes.length > LONGEST_MESSAGE_BYTES ? '' : bytes.toString()
  if (message.length > LONGEST_MESSAGE) return { ids: [], seals: [] }
  const ids = trailerValues(message, COMMIT_ID_TRAILER).filter(({ length }) => length <= LONGEST_ID)
  if (ids.length === 0) return { ids, seals: [] }
  const seals = trailerValues(message, COMMIT_SEAL_TRAILER).filter(isSealText)
  return { ids: kept(ids, MOST_IDS), seals: kept(seals, MOST_SEALS) }
}

function kept(values: readonly string[], most: number): readonly string[] {
  return values.slice(-most).map(ownCopy)
}
