import type { ValidateFunction } from 'ajv'
import { Failure } from '../failure.ts'
import { failureOfFaults, fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { member } from '../json-value.ts'
import { parseRepositoryAddress } from '../repository/address.ts'
import { targetOf } from '../repository/target.ts'
import type { Target } from '../repository/target.ts'
import { API_VERSION } from '../resource/resource.ts'
import type {
  Envelope,
  GitCommit,
  GitCommitSpec,
  Kind,
  PullRequest,
  PullRequestSpec,
  RemoteSpec,
} from '../resource/resource.ts'
import { draftOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { fieldErrorOf } from './field-errors.ts'
import { GITCOMMIT_SPEC } from './git-commit.ts'
import { PULLREQUEST_SPEC } from './pull-request.ts'
import type { Schema } from './schema.ts'
import { unknownFields } from './unknown-fields.ts'
import { gitCommitSpecValidator, pullRequestSpecValidator } from './validators.ts'

/** A spec that the schema takes, of a repository whose address can be read. */
export interface SoundSpec<K extends Kind, S> {
  readonly kind: K
  readonly sound: true
  readonly spec: S
  readonly target: Target
  readonly fieldErrors: readonly []
}

/** A spec with errors of the schema or the address; what of it can be used is there, for the rules to look at. */
interface FaultySpec<K extends Kind, S> {
  readonly kind: K
  readonly sound: false
  /** Undefined where it is no object. */
  readonly spec: Draft<S> | undefined
  /** Undefined where the address of the repository cannot be read. */
  readonly target: Target | undefined
  /** At least one. */
  readonly fieldErrors: readonly FieldError[]
}

/** Something that is no resource of ours. */
interface Foreign {
  readonly kind: undefined
  readonly sound: false
  readonly spec: undefined
  readonly target: undefined
  readonly fieldErrors: readonly FieldError[]
}

/** A GitCommit or a PullRequest, with errors or without. */
export type ParsedGitCommit = SoundSpec<'GitCommit', GitCommitSpec> | FaultySpec<'GitCommit', GitCommitSpec>
export type ParsedPullRequest =
  SoundSpec<'PullRequest', PullRequestSpec> | FaultySpec<'PullRequest', PullRequestSpec>

/** What a resource's spec was parsed to. */
export type Parsed = ParsedGitCommit | ParsedPullRequest | Foreign

/** A spec that is an object at least: what of it can be used is looked at. */
export type Readable =
  | (ParsedGitCommit & { readonly spec: Draft<GitCommitSpec> })
  | (ParsedPullRequest & { readonly spec: Draft<PullRequestSpec> })

/** A stored resource whose spec is sound. */
export type SoundGitCommit = GitCommit & SoundSpec<'GitCommit', GitCommitSpec>
export type SoundPullRequest = PullRequest & SoundSpec<'PullRequest', PullRequestSpec>
export type SoundResource = SoundGitCommit | SoundPullRequest

/**
 * Parses the spec of a resource, once for each event or review: the schema, and the address of the repository. The
 * value may be anything, and need not be stored yet: nothing is asked of its metadata and status.
 */
export function parse(value: unknown): Parsed {
  const kind = kindOf(value)
  const spec = member(value, 'spec')
  if (kind === 'GitCommit')
    return parseSpec(kind, spec, { schema: GITCOMMIT_SPEC, validator: gitCommitSpecValidator })
  if (kind === 'PullRequest')
    return parseSpec(kind, spec, { schema: PULLREQUEST_SPEC, validator: pullRequestSpecValidator })
  const fieldErrors = [fieldError('kind', `has to be GitCommit or PullRequest of apiVersion ${API_VERSION}.`)]
  return { kind, sound: false, spec: undefined, target: undefined, fieldErrors }
}

/** Is the spec an object, of a resource of ours? */
export function isReadable(parsed: Parsed): parsed is Readable {
  return parsed.spec !== undefined
}

/**
 * The stored resource with its spec. Throws InvalidSpec with a sentence for each error of the schema or the address,
 * or NotSupported (slow) where the spec has a field that the schema does not know: what else is wrong may come of that.
 */
export function requireSound({ metadata, status }: Envelope, parsed: Parsed): SoundResource {
  if (!parsed.sound) {
    throw failureOfFaults(parsed.fieldErrors) ?? new Failure('InvalidSpec', 'The resource cannot be read.')
  }
  const stored = { apiVersion: API_VERSION, metadata, ...(status === undefined ? {} : { status }) } as const
  return parsed.kind === 'GitCommit' ? { ...stored, ...parsed } : { ...stored, ...parsed }
}

/** The kind of a resource of ours; undefined for every other value. */
function kindOf(value: unknown): Kind | undefined {
  const kind = member(value, 'kind')
  if (member(value, 'apiVersion') !== API_VERSION) return undefined
  return kind === 'GitCommit' || kind === 'PullRequest' ? kind : undefined
}

/** How the spec of a kind is read. */
interface Reading<S> {
  readonly schema: Schema
  readonly validator: () => ValidateFunction<S>
}

function parseSpec<K extends Kind, S>(
  kind: K,
  written: unknown,
  { schema, validator }: Reading<S>,
): SoundSpec<K, S> | FaultySpec<K, S> {
  const validate = validator()
  const isValid = validate(written)
  const { target, complaint } = readTarget(kind, draftOf<RemoteSpec>(written, schema))
  const unknown = unknownFields(written, schema, 'spec')
  if (isValid && target !== undefined && unknown.length === 0) {
    return { kind, sound: true, spec: written, target, fieldErrors: [] }
  }
  // The parser of addresses knows better what is wrong with a text than the pattern that it does not match.
  const others = isValid
    ? []
    : schemaErrors(written, validate).filter(({ field }) => field !== complaint[0]?.field)
  // Unknown fields first, because the first error decides whether trying again helps.
  const fieldErrors = oneForEachField([...unknown, ...others, ...complaint])
  return { kind, sound: false, spec: draftOf<S>(written, schema), target, fieldErrors }
}

function readTarget(
  kind: Kind,
  spec: Draft<RemoteSpec> | undefined,
): { readonly target: Target | undefined; readonly complaint: readonly FieldError[] } {
  const text = spec?.repository
  if (typeof text !== 'string') return { target: undefined, complaint: [] }
  const provider = spec?.provider ?? undefined
  const baseURL = spec?.providerConfig?.baseURL ?? undefined
  try {
    return { target: targetOf(kind, parseRepositoryAddress(text), { provider, baseURL }), complaint: [] }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { reason, message } = error
    return { target: undefined, complaint: [{ reason, field: 'spec.repository', message }] }
  }
}

function schemaErrors(spec: unknown, { errors }: ValidateFunction): readonly FieldError[] {
  if (spec === undefined) return [fieldError('spec', 'is missing; it has to be an object.')]
  return (errors ?? []).filter(({ keyword }) => keyword !== 'if').map((error) => fieldErrorOf(error, 'spec'))
}

function oneForEachField(fieldErrors: readonly FieldError[]): readonly FieldError[] {
  const byField = new Map<string, FieldError>()
  for (const found of fieldErrors) if (!byField.has(found.field)) byField.set(found.field, found)
  return [...byField.values()]
}
