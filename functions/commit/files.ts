import type { ChangeDraft, FileChange } from '../domain/commit/change.ts'
import { CHANGE_BYTES } from '../domain/commit/change.ts'
import { writtenPaths } from '../domain/commit/written-paths.ts'
import { requireTime } from '../domain/deadline.ts'
import { asFailure, Failure } from '../domain/failure.ts'
import type { GitCommit } from '../domain/resource/resource.ts'
import { withoutMovedLine } from './moved-lines.ts'
import { fromContent } from './sources/content.ts'
import { fromObject } from './sources/object.ts'
import { openObjects, outOfTime, type Reading } from './sources/objects.ts'
import { fromRemoval } from './sources/removal.ts'
import { fromSet } from './sources/set.ts'
import type { Entry, Means, Room, SetFields, Source } from './sources/source.ts'

/** What can be in a file; an entry is of one of them. */
const SOURCES: readonly Source[] = [fromObject, fromContent, fromRemoval, fromSet]

/** Failures that one message lists. */
const LISTED = 5

/** The files that the commit changes, without their contents. */
export function filesOf({ spec }: GitCommit): ChangeDraft['files'] {
  return writtenPaths(spec).map(({ path }) => ({ path }))
}

/**
 * The files with what the commit does to them; objects are read as they are now, each once. Throws one Failure for all
 * entries that cannot be made: ReferenceNotFound if the cluster does not serve a kind, NotSupported if the files take too
 * much together, Timeout or its reason if the signal fires, and what reading and rendering throw.
 */
export async function readFiles(
  resource: GitCommit,
  { setFields, ...reading }: Omit<Reading, 'namespace' | 'room'> & { readonly setFields: SetFields },
): Promise<readonly FileChange[]> {
  const entries = entriesOf(resource)
  const room = openRoom(entries.length === 1 ? Infinity : CHANGE_BYTES)
  const objects = openObjects({ ...reading, namespace: resource.metadata.namespace, room })
  const means = { objects, setFields, room }
  const { signal, share } = reading
  const read = await Promise.all(
    entries.map(async (entry) =>
      readEntry(entry, means)
        .then((file) => withoutMovedLine(file, share))
        .catch(asFailure),
    ),
  )
  requireTime(signal, outOfTime)
  const failed = read.flatMap((result, i) =>
    result instanceof Failure ? [{ failure: result, field: entries[i]?.field ?? 'spec' }] : [],
  )
  // A bug is logged with its cause.
  const bug = failed.find(({ failure }) => failure.reason === 'Internal')
  if (bug === undefined) room.check()
  const first = bug ?? failed[0]
  if (first !== undefined)
    throw united(
      first,
      failed.filter((other) => other !== first),
    )
  return read.flatMap((result) => (result instanceof Failure ? [] : [result]))
}

function openRoom(most: number): Room {
  let left = most
  let full: Failure | undefined

  function check(): void {
    if (full !== undefined) throw full
  }

  return {
    take(bytes) {
      left -= bytes
      if (left < 0) full ??= tooLarge()
      check()
    },
    check,
  }
}

function entriesOf({ spec }: GitCommit): readonly Entry[] {
  const { resourceRef, files } = spec
  if (files !== undefined) return files.map((file, i) => ({ field: `spec.files[${i}]`, file }))
  if (resourceRef === undefined) return []
  const { path, ...reference } = resourceRef
  return [{ field: 'spec', file: { path, resourceRef: reference } }]
}

async function readEntry(entry: Entry, means: Means): Promise<FileChange> {
  for (const source of SOURCES) {
    const file = source(entry, means)
    if (file !== undefined) return file
  }
  throw new Failure(
    'InvalidSpec',
    `${entry.field} has no content; set one of resourceRef, content, remove and set.`,
  )
}

interface Failed {
  readonly failure: Failure
  readonly field: string
}

/** The reason of the first, the messages of all, each with its entry. Of `resourceRef` alone, the failure as it is. */
function united(first: Failed, others: readonly Failed[]): Failure {
  if (first.field === 'spec' || first.failure.reason === 'Internal') return first.failure
  const { reason, retry, accountRefused, retryAfterSeconds } = first.failure
  const all = [first, ...others]
  const messages = all.slice(0, LISTED).map(({ failure, field }) => `${field}: ${failure.message}`)
  const more = all.length > LISTED ? [`There are ${all.length - LISTED} more.`] : []
  return new Failure(reason, [...messages, ...more].join(' '), {
    cause: first.failure,
    retry,
    accountRefused,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

function tooLarge(): Failure {
  const message = `The files of spec.files take more than ${CHANGE_BYTES / (1024 * 1024)} MiB together, which is the limit for one commit; divide them into several resources.`
  return new Failure('NotSupported', message)
}
