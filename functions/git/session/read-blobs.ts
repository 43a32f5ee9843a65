import { Failure } from '../../domain/failure.ts'
import { movedMeanwhile } from '../branch.ts'
import { OUTPUT_LIMIT } from '../process/launcher.ts'
import type { Blobs } from '../remote.ts'
import { FETCH } from './fetch.ts'
import type { Session } from './session.ts'

/** Names in one command line. */
const NAMES_PER_CALL = 500
/** Half of what one git may print; the rest is for the lines between the files. */
const BYTES_PER_CALL = OUTPUT_LIMIT / 2

/** Most bytes that are read together: what packs of next to nothing hold would fill the memory of the pod. */
const MOST_MIB = 64
const MIB = 1024 * 1024

/**
 * Reads files by their names in the tree of the tip. Those that the fetch of the tip has not brought are fetched
 * together. A file of more than `most` bytes is left out.
 * @throws Failure for an error of the remote; NotSupported where they take more than 64 MiB
 */
export async function readBlobs(session: Session, oids: readonly string[], most: number): Promise<Blobs> {
  const wanted = [...new Set(oids)]
  const sizes = new Map(await sizesOf(session, wanted))
  const missing = wanted.filter((oid) => !sizes.has(oid))
  for (let at = 0; at < missing.length; at += NAMES_PER_CALL)
    await fetchBlobs(session, missing.slice(at, at + NAMES_PER_CALL))
  for (const [oid, size] of await sizesOf(session, missing)) sizes.set(oid, size)
  if (sizes.size < wanted.length) throw movedMeanwhile(session.context.url)
  const fitting = [...sizes].filter(([, size]) => size <= most)
  const bytes = fitting.reduce((sum, [, size]) => sum + size, 0)
  if (bytes > MOST_MIB * MIB) throw tooMuch(session.context.url)
  await session.makeRoomFor(bytes)
  const blobs = new Map<string, Uint8Array>()
  for (const call of splitIntoCalls(fitting))
    for (const [oid, bytes] of await readCall(session, call)) blobs.set(oid, bytes)
  return blobs
}

function tooMuch(url: string): Failure {
  const message = `The files that are read of ${url} take more than ${MOST_MIB} MiB together, which is the limit for one push; change fewer of them in one resource.`
  // What others have written there, they may make smaller.
  return new Failure('NotSupported', message, { retry: 'slow' })
}

/** A name and a size in bytes. */
type Sized = readonly [string, number]

/** The sizes of those that are here (git-cat-file(1), --batch-check). */
async function sizesOf(session: Session, oids: readonly string[]): Promise<readonly Sized[]> {
  if (oids.length === 0) return []
  const format = '--batch-check=%(objectname) %(objectsize)'
  const listing = await session.offline(['cat-file', format], linesOf(oids))
  return listing.split('\n').flatMap((line) => {
    const [oid = '', size = ''] = line.split(' ')
    return /^\d+$/.test(size) ? [[oid, Number(size)] as const] : []
  })
}

// As Git fetches what a clone without files lacks (fetch_objects() of its promisor-remote.c).
async function fetchBlobs(session: Session, oids: readonly string[]): Promise<void> {
  const { workspace, url } = session
  const args = ['-c', 'fetch.negotiationAlgorithm=noop', ...FETCH, '--', url, ...oids]
  const { meaning } = await session.online(args, { fetches: true })
  await workspace.cleanConfig()
  if (meaning instanceof Failure) throw meaning
  if (meaning !== undefined) throw movedMeanwhile(session.context.url)
}

function splitIntoCalls(sized: readonly Sized[]): readonly (readonly Sized[])[] {
  const calls: Sized[][] = []
  let bytes = Infinity
  for (const one of sized) {
    bytes += one[1]
    if (bytes > BYTES_PER_CALL) {
      calls.push([])
      bytes = one[1]
    }
    calls.at(-1)?.push(one)
  }
  return calls
}

/** The contents, each after a line and before a line end (git-cat-file(1), --batch). */
async function readCall(
  session: Session,
  call: readonly Sized[],
): Promise<readonly (readonly [string, Uint8Array])[]> {
  const names = call.map(([oid]) => oid)
  const output = await session.offlineBytes(['cat-file', '--batch=%(objectname)'], linesOf(names))
  let at = 0
  return call.map(([oid, size]) => {
    const start = at + oid.length + 1
    at = start + size + 1
    // A copy: a part would keep all of the output, and a thread that gets it would get all of that.
    return [oid, new Uint8Array(output.subarray(start, start + size))] as const
  })
}

function linesOf(oids: readonly string[]): Uint8Array {
  return Buffer.from(oids.map((oid) => `${oid}\n`).join(''))
}
