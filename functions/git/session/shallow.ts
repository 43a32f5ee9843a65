import { READ_LIMIT } from '../process/workspace.ts'
import type { Session } from './session.ts'

/** The file of a repository with the commits whose parents were not fetched, which is the edge of its history. */
const SHALLOW = 'shallow'
/** Bytes of a line of it. */
const LINE = 41

/** Commits at the edge of the fetched history; none: all of it is here. */
export async function edgeOf({ workspace }: Session): Promise<readonly string[]> {
  const lines = await workspace.readLines(SHALLOW)
  // The last one may be cut.
  return lines.filter(({ length }) => length === LINE - 1)
}

/** Whether the history is cut at a commit that is as new as the date. */
export async function isCutSince(session: Session, since: Date): Promise<boolean> {
  const edge = await edgeOf(session)
  if (edge.length === 0) return false
  const times = await session.offline(
    ['log', '--ignore-missing', '--no-walk', '--stdin', '--format=%ct'],
    linesOf(edge),
  )
  return times.split('\n').some((seconds) => Number(seconds) * 1000 >= since.getTime())
}

/**
 * Leaves only commits at the edge that are here. Of a merge with one parent that is older than the date, a server sends no parent, but
 * it also names edges below the others; Git takes them down, and fails at the next fetch with `error in object: unshallow`.
 */
export async function keepKnownEdge(session: Session): Promise<void> {
  const edge = await edgeOf(session)
  // One is that of the commit that was asked for; of too many, not all were read.
  if (edge.length < 2 || edge.length * LINE > READ_LIMIT - LINE) return
  const told = await session.offline(['cat-file', '--batch-check=%(objectname) %(objecttype)'], linesOf(edge))
  const here = new Set(told.split('\n'))
  const known = edge.filter((name) => here.has(`${name} commit`))
  if (known.length < edge.length) await session.workspace.writeLines(SHALLOW, known)
}

function linesOf(names: readonly string[]): Buffer {
  return Buffer.from(names.map((name) => `${name}\n`).join(''))
}
