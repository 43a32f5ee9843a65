import { clashErrors } from '../commit/path-clashes.ts'
import {
  countObjects,
  OBJECTS_LIMIT,
  writtenReferences,
  type WrittenReference,
} from '../commit/references.ts'
import { writtenPaths } from '../commit/written-paths.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { hasMovedLine, HAS_MOVED_LINE } from '../repository/moved-words.ts'
import { GROUP } from '../resource/api-names.ts'
import { intervalSeconds } from '../resource/following.ts'
import type { FileEntry, GitCommitSpec } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'
import { changeErrors, referenceErrors } from './field-rules.ts'

const KIBIBYTE = 1024
/** Maximum bytes of one inline content. */
const CONTENT_BYTES = 64 * KIBIBYTE
const SOURCES = ['resourceRef', 'content', 'remove', 'set'] as const

/** The errors in what a GitCommit commits: `files`, or `resourceRef`, which is short for one of them. */
export function filesErrors(spec: Draft<GitCommitSpec>): readonly FieldError[] {
  return [
    ...choiceErrors(spec),
    ...syncErrors(spec),
    ...(spec.files ?? []).flatMap((file, i) => (file === null ? [] : fileErrors(file, `spec.files[${i}]`))),
    ...writtenReferences(spec).flatMap(referenceErrors),
    ...togetherErrors(spec),
    ...(spec.files ? clashErrors(writtenPaths(spec)) : []),
  ]
}

/** Warnings about texts that look like a template of another tool, which nobody fills in. */
export function templateWarnings(spec: Draft<GitCommitSpec>): readonly string[] {
  if (!spec.files) return []
  const texts = [
    { field: 'spec.branch', text: spec.branch },
    { field: 'spec.message', text: spec.message },
    ...writtenPaths(spec).map(({ field, path }) => ({ field, text: path })),
  ]
  return texts.flatMap(({ field, text }) =>
    /\{\{|\}\}/.test(text ?? '')
      ? [
          `${field} contains "{{" or "}}", which Commitlet does not fill in; write {namespace}, {name} or {kind}.`,
        ]
      : [],
  )
}

function choiceErrors({ resourceRef, files }: Draft<GitCommitSpec>): readonly FieldError[] {
  if (resourceRef === undefined && files === undefined)
    return [
      fieldError(
        'spec.resourceRef',
        'is missing; name the object to commit there, or list the files of the commit in spec.files.',
      ),
    ]
  if (resourceRef === undefined || files === undefined) return []
  return [
    fieldError('spec.files', 'is set together with spec.resourceRef; make that one an entry of spec.files.'),
  ]
}

function syncErrors(spec: Draft<GitCommitSpec>): readonly FieldError[] {
  const { sync, interval } = spec
  if (sync === null || interval === null) return []
  const unused =
    interval === undefined || sync === 'OnChange'
      ? []
      : [fieldError('spec.interval', 'is set without sync: OnChange; leave it out, or set that.')]
  const isWrong = interval !== undefined && intervalSeconds(interval) === undefined
  const wrong = isWrong
    ? [fieldError('spec.interval', 'has to be a duration from 1m to 24h, such as 10m or 1h30m.')]
    : []
  const sources = sync === 'OnChange' ? writtenReferences(spec) : []
  const isIdle = sync === 'OnChange' && sources.length === 0
  const idle = isIdle
    ? [
        fieldError(
          'spec.sync',
          'is OnChange, but the spec refers to no object that can change; leave it out.',
        ),
      ]
    : []
  return [...(wrong.length > 0 ? wrong : unused), ...idle, ...sources.flatMap(endlessErrors)]
}

/** Each attempt changes the status of its GitCommit: one that follows itself, or two that follow each other, would never rest. */
function endlessErrors({ field, reference }: WrittenReference): readonly FieldError[] {
  const { apiVersion, kind } = reference
  if (kind !== 'GitCommit' || apiVersion?.split('/', 1)[0] !== GROUP) return []
  const complaint =
    'is a GitCommit, whose status changes with each commit, so that a follower of it might never end; refer to another object, or leave out spec.sync.'
  return [fieldError(`${field}.kind`, complaint)]
}

function fileErrors(file: Draft<FileEntry>, field: string): readonly FieldError[] {
  const named = SOURCES.filter((source) => file[source] !== undefined)
  const [first, second] = named
  const several =
    first === undefined
      ? [fieldError(field, 'has no content; set one of resourceRef, content, remove and set.')]
      : second === undefined
        ? []
        : [fieldError(`${field}.${second}`, `is set together with ${first}; set only one of them.`)]
  const kept =
    file.remove === false
      ? [fieldError(`${field}.remove`, 'is false; leave the file out, or set it to true.')]
      : []
  return [...several, ...kept, ...contentErrors(file.content, field), ...changeErrors(file.set, field)]
}

function contentErrors(content: string | null | undefined, file: string): readonly FieldError[] {
  if (content === undefined || content === null) return []
  const field = `${file}.content`
  if (!content.isWellFormed())
    return [fieldError(field, 'contains half a character (a lone surrogate); fix it.')]
  const bytes = Buffer.byteLength(content)
  if (bytes <= CONTENT_BYTES) return hasMovedLine(content) ? [fieldError(field, HAS_MOVED_LINE)] : []
  const complaint = `has ${bytes} bytes, but at most ${CONTENT_BYTES} are allowed; commit it from a ConfigMap.`
  return [fieldError(field, complaint)]
}

function togetherErrors(spec: Draft<GitCommitSpec>): readonly FieldError[] {
  const objects = countObjects(writtenReferences(spec))
  if (objects <= OBJECTS_LIMIT) return []
  const complaint = `refers to ${objects} objects, but at most ${OBJECTS_LIMIT} are allowed; divide it into several resources.`
  return [fieldError('spec.files', complaint)]
}
