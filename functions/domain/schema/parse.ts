import type { ValidateFunction } from 'ajv'
import { Failure } from '../failure.ts'
import { failureOfFieldErrors, fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { isRecord, member } from '../json-value.ts'
import { targetOf } from '../repository/target.ts'
import type { Target } from '../repository/target.ts'
import { readWrittenAddress } from '../repository/written-address.ts'
import { filesExcess } from '../spec/files-excess.ts'
import { namesExcess, namesOf, withNames } from '../spec/names.ts'
import type { Names } from '../spec/names.ts'
import { API_VERSION } from '../resource/api-names.ts'
import type { Envelope, GitCommit, PullRequest } from '../resource/resource.ts'
import type { GitCommitSpec, PullRequestSpec, RemoteSpec } from '../spec/spec.ts'
import type { Kind } from '../resource/api-names.ts'
import { credentialErrors } from './credential-errors.ts'
import { draftOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { fieldErrorOf } from './field-errors.ts'
import { GITCOMMIT_SPEC } from '../crd/git-commit.ts'
import { PULLREQUEST_SPEC } from '../crd/pull-request.ts'
import type { Schema } from '../crd/schema.ts'
import { unknownFields } from './unknown-fields.ts'
import { gitCommitSpecValidator, pullRequestSpecValidator } from './validators.ts'

/** A spec that matches the schema and whose repository address can be parsed. */
export interface SoundSpec<K extends Kind, S> {
  readonly kind: K
  readonly sound: true
  /** With the names that its templates stand for. */
  readonly spec: S
  /** The spec as it was written, which the stamp signs. */
  readonly written: S
  readonly target: Target
  readonly fieldErrors: readonly []
}

/** A spec with errors in the schema or the address; its usable parts are kept for the rules. */
interface SpecWithErrors<K extends Kind, S> {
  readonly kind: K
  readonly sound: false
  /** Undefined if it is not an object. */
  readonly spec: Draft<S> | undefined
  /** Undefined if the address of the repository cannot be parsed. */
  readonly target: Target | undefined
  /** At least one. */
  readonly fieldErrors: readonly FieldError[]
}

/** A value that is not a resource of Commitlet. */
interface Foreign {
  readonly kind: undefined
  readonly sound: false
  readonly spec: undefined
  readonly target: undefined
  readonly fieldErrors: readonly FieldError[]
}

/** A GitCommit or a PullRequest, with errors or without. */
export type ParsedGitCommit =
  SoundSpec<'GitCommit', GitCommitSpec> | SpecWithErrors<'GitCommit', GitCommitSpec>
export type ParsedPullRequest =
  SoundSpec<'PullRequest', PullRequestSpec> | SpecWithErrors<'PullRequest', PullRequestSpec>

/** The result of parsing a resource's spec. */
export type Parsed = ParsedGitCommit | ParsedPullRequest | Foreign

/** A spec that is an object, with or without errors: rules can check its usable parts. */
export type Readable =
  | (ParsedGitCommit & { readonly spec: Draft<GitCommitSpec> })
  | (ParsedPullRequest & { readonly spec: Draft<PullRequestSpec> })

/** A stored resource whose spec is sound. */
export type SoundGitCommit = GitCommit & SoundSpec<'GitCommit', GitCommitSpec>
export type SoundPullRequest = PullRequest & SoundSpec<'PullRequest', PullRequestSpec>
export type SoundResource = SoundGitCommit | SoundPullRequest

/**
 * Parses the spec of a resource, once for each event or review: the schema, and the address of the repository. The
 * value may be anything, and need not be stored yet: of its metadata only the names are read, which the templates of a
 * GitCommit stand for, and its status is not.
 */
export function parse(value: unknown): Parsed {
  const kind = kindOf(value)
  const spec = member(value, 'spec')
  if (kind === 'GitCommit') return parseGitCommit(spec, namesOf(value))
  if (kind === 'PullRequest')
    return parseSpec(kind, spec, { schema: PULLREQUEST_SPEC, validator: pullRequestSpecValidator })
  const fieldErrors = [fieldError('kind', `has to be GitCommit or PullRequest of apiVersion ${API_VERSION}.`)]
  return { kind, sound: false, spec: undefined, target: undefined, fieldErrors }
}

function parseGitCommit(written: unknown, names: Names): ParsedGitCommit {
  const rules = { schema: GITCOMMIT_SPEC, validator: gitCommitSpecValidator }
  const excess = filesExcess(written)
  // Of what is too much, nothing is read.
  const read = excess === undefined || !isRecord(written) ? written : { ...written, files: null }
  const parsed = parseSpec<'GitCommit', GitCommitSpec>('GitCommit', read, rules)
  const tooLong = parsed.spec === undefined ? [] : namesExcess(parsed.spec, names)
  if (parsed.sound && tooLong.length === 0) return { ...parsed, spec: withNames(parsed.spec, names) }
  const found = [...(excess === undefined ? [] : [excess]), ...parsed.fieldErrors, ...tooLong]
  const { kind, spec, target } = parsed
  const fieldErrors = firstOfEachField(found)
  return { kind, sound: false, spec: spec && withNames(spec, names), target, fieldErrors }
}

/** Whether the value is a resource of Commitlet and its spec an object. */
export function isReadable(parsed: Parsed): parsed is Readable {
  return parsed.spec !== undefined
}

/**
 * The stored resource with its spec. Throws InvalidSpec with a sentence for each error of the schema or the address,
 * or NotSupported (retried slowly) if the spec has a field that the schema does not know: that field may be the cause
 * of the other errors.
 */
export function requireSound({ metadata, status }: Envelope, parsed: Parsed): SoundResource {
  if (!parsed.sound) {
    throw (
      failureOfFieldErrors(parsed.fieldErrors) ?? new Failure('InvalidSpec', 'The resource cannot be read.')
    )
  }
  const stored = { apiVersion: API_VERSION, metadata, ...(status === undefined ? {} : { status }) } as const
  return parsed.kind === 'GitCommit' ? { ...stored, ...parsed } : { ...stored, ...parsed }
}

/** The kind of a resource of Commitlet; undefined for every other value. */
function kindOf(value: unknown): Kind | undefined {
  const kind = member(value, 'kind')
  if (member(value, 'apiVersion') !== API_VERSION) return undefined
  return kind === 'GitCommit' || kind === 'PullRequest' ? kind : undefined
}

/** The schema of the spec of a kind, and its validator. */
interface SpecSchema<S> {
  readonly schema: Schema
  readonly validator: () => ValidateFunction<S>
}

function parseSpec<K extends Kind, S>(
  kind: K,
  written: unknown,
  { schema, validator }: SpecSchema<S>,
): SoundSpec<K, S> | SpecWithErrors<K, S> {
  const validate = validator()
  const isValid = validate(written)
  const { target, addressErrors } = readTarget(kind, draftOf<RemoteSpec>(written, schema))
  const unknown = unknownFields(written, schema, 'spec')
  const pasted = credentialErrors(written, schema, 'spec')
  if (isValid && target !== undefined && unknown.length === 0 && pasted.length === 0) {
    return { kind, sound: true, spec: written, written, target, fieldErrors: [] }
  }
  // For an address, the error of its parser is more precise than that of the pattern.
  const otherErrors = isValid
    ? []
    : schemaErrors(written, validate).filter(({ field }) => field !== addressErrors[0]?.field)
  // Unknown fields first, because the first error decides whether Commitlet retries.
  const fieldErrors = firstOfEachField([...unknown, ...pasted, ...otherErrors, ...addressErrors])
  return { kind, sound: false, spec: draftOf<S>(written, schema), target, fieldErrors }
}

function readTarget(
  kind: Kind,
  spec: Draft<RemoteSpec> | undefined,
): { readonly target: Target | undefined; readonly addressErrors: readonly FieldError[] } {
  const text = spec?.repository
  if (typeof text !== 'string') return { target: undefined, addressErrors: [] }
  const provider = spec?.provider ?? undefined
  const baseURL = spec?.providerConfig?.baseURL ?? undefined
  try {
    return { target: targetOf(kind, readWrittenAddress(text), { provider, baseURL }), addressErrors: [] }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { reason, message } = error
    return { target: undefined, addressErrors: [{ reason, field: 'spec.repository', message }] }
  }
}

function schemaErrors(spec: unknown, { errors }: ValidateFunction): readonly FieldError[] {
  if (spec === undefined) return [fieldError('spec', 'is missing; it has to be an object.')]
  return (errors ?? []).filter(({ keyword }) => keyword !== 'if').map((error) => fieldErrorOf(error, 'spec'))
}

function firstOfEachField(fieldErrors: readonly FieldError[]): readonly FieldError[] {
  const byField = new Map<string, FieldError>()
  for (const found of fieldErrors) if (!byField.has(found.field)) byField.set(found.field, found)
  return [...byField.values()]
}
