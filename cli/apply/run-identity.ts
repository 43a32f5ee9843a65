import { createHash, randomUUID } from 'node:crypto'
import { writtenReferences } from '../../functions/domain/commit/references.ts'
import type { Parsed } from '../../functions/domain/schema/parse.ts'
import type { FileObject } from '../input/objects.ts'
import { UsageError } from '../terminal/exit-codes.ts'

/** Which run of a pipeline this is. */
export interface RunIdentity {
  /** Equal for a run that is repeated. */
  readonly run: string
  /** An earlier try of this run may have committed something. */
  readonly again: boolean
  /** Since when an earlier try may have. */
  readonly since: Date
}

/** A run that is repeated later is another one. */
const REPEATED_WITHIN_MS = 86_400_000
const LONGEST = 200

/**
 * The identity of this run: with a name, tries of one run have the same one, so that a second try finds the commits of the
 * first; without a name each call is a run of its own.
 * @throws UsageError for a name that cannot be a value of an annotation
 */
export function runIdentity(name: string | undefined, now: Date): RunIdentity {
  if (name === undefined) return { run: randomUUID(), again: false, since: now }
  if (name === '' || name.length > LONGEST || /\p{C}/u.test(name))
    throw new UsageError(
      `--run has to be a name of 1 to ${LONGEST} characters in one line, such as the ID of the pipeline.`,
    )
  return { run: name, again: true, since: new Date(now.getTime() - REPEATED_WITHIN_MS) }
}

/**
 * The request of a GitCommit in a run: equal for each try of it, and another one where its spec or an object that it refers to has
 * changed. A run that commits twice, such as in two of its stages, would otherwise take its first commit for the second.
 */
export function requestIn(run: string, { kind, spec }: Parsed, objects: readonly FileObject[]): string {
  const references = kind === 'GitCommit' && spec !== undefined ? writtenReferences(spec) : []
  const sources = references.flatMap(({ reference }) =>
    objects
      .filter((object) => object.kind === reference.kind && object.name === reference.name)
      .map((object) => object.jsonIn(object.namespace)),
  )
  const wanted = JSON.stringify([spec, sources])
  return `${run} ${createHash('sha256').update(wanted).digest('hex')}`
}

/**
 * The uid of a resource of a file: the same whenever it is carried out, so that its pull request is known again. A UUID of
 * version 8 (RFC 9562), which no API server gives.
 */
export function uidOf({ kind, name }: Pick<FileObject, 'kind' | 'name'>, namespace: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify(['commitlet apply', kind, namespace, name]))
    .digest('hex')
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ]
  return parts.join('-')
}
