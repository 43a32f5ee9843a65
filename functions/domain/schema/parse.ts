import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import { Failure } from '../failure.ts'
import { failureOfFaults, fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { member } from '../json-value.ts'
import { API_VERSION } from '../resource/resource.ts'
import type { GitCommit, Kind, PullRequest, Resource } from '../resource/resource.ts'
import { boundedFirst, isLonger } from './bounds.ts'
import { fieldErrorOf } from './field-errors.ts'
import { GITCOMMIT_SPEC } from './git-commit.ts'
import { PULLREQUEST_SPEC } from './pull-request.ts'
import type { Schema } from './schema.ts'
import { unknownFields } from './unknown-fields.ts'

/**
 * Makes a resource of what the API server stores: apiVersion, kind, the metadata that it always sets, and spec by the
 * schemas of the CRDs. The status is taken as the API server has checked it: a newer release may have written there
 * what this one does not know. Throws InvalidSpec with a sentence for each fault, or NotSupported (slow) where the
 * spec has a field that they do not know: what else is wrong may come of that.
 */
export function parseResource(value: unknown): Resource {
  const kind = kindOf(value)
  const unknown = kind !== undefined && unknownInSpec(kind, value).length > 0
  if (!unknown && kind === 'GitCommit' && gitCommitValidator()(value)) return value
  if (!unknown && kind === 'PullRequest' && pullRequestValidator()(value)) return value
  throw failureOfFaults(errorsOf(value)) ?? new Failure('InvalidSpec', 'The resource cannot be read.')
}

function unknownInSpec(kind: Kind, value: unknown): readonly FieldError[] {
  const schema = kind === 'GitCommit' ? GITCOMMIT_SPEC : PULLREQUEST_SPEC
  return unknownFields(member(value, 'spec'), schema, 'spec')
}

/**
 * What the schema finds wrong with the spec, one fault for a field, those of fields that it does not know first. The object need not be stored yet: of its
 * metadata nothing is asked.
 */
export function schemaErrors(value: unknown): readonly FieldError[] {
  return errorsOf(value).filter(({ field }) => !/^(?:metadata|status)\b/.test(field))
}

/** The kind of a resource of ours; undefined for every other value. */
export function kindOf(value: unknown): Kind | undefined {
  const kind = member(value, 'kind')
  if (member(value, 'apiVersion') !== API_VERSION) return undefined
  return kind === 'GitCommit' || kind === 'PullRequest' ? kind : undefined
}

// Compiling takes longer than the rest of a start, so the first resource of a kind pays for it, and only once.
const compiled: { gitCommit?: ValidateFunction<GitCommit>; pullRequest?: ValidateFunction<PullRequest> } = {}

function gitCommitValidator(): ValidateFunction<GitCommit> {
  compiled.gitCommit ??= compiler().compile<GitCommit>(stored('GitCommit', GITCOMMIT_SPEC))
  return compiled.gitCommit
}

function pullRequestValidator(): ValidateFunction<PullRequest> {
  compiled.pullRequest ??= compiler().compile<PullRequest>(stored('PullRequest', PULLREQUEST_SPEC))
  return compiled.pullRequest
}

function compiler(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    strictTypes: false,
    // Our schemas are constants: a test checks them against the meta-schema, which costs a third of the time.
    meta: false,
    validateSchema: false,
  })
  ajv.addVocabulary([
    'expects',
    'x-kubernetes-map-type',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-validations',
  ])
  // ajv's own keywords read all of a text, however long it is.
  replaceKeyword(ajv, 'minLength', (limit, text) => isLonger(text, limit - 1))
  replaceKeyword(ajv, 'maxLength', (limit, text) => !isLonger(text, limit))
  ajv.addFormat('int32', true).addFormat('int64', true)
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/)
  return ajv
}

function replaceKeyword(ajv: Ajv, keyword: string, validate: (limit: number, text: string) => boolean): void {
  ajv.removeKeyword(keyword).addKeyword({ keyword, type: 'string', schemaType: 'number', validate })
}

function stored(kind: Kind, spec: Schema): object {
  const text = { type: 'string' }
  return {
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { const: API_VERSION },
      kind: { const: kind },
      metadata: {
        type: 'object',
        required: ['name', 'namespace', 'uid', 'generation', 'resourceVersion'],
        properties: {
          name: text,
          namespace: text,
          uid: text,
          generation: { type: 'integer' },
          resourceVersion: text,
          annotations: { type: 'object', additionalProperties: text },
          deletionTimestamp: text,
        },
      },
      spec: boundedFirst(spec),
      status: { type: 'object' },
    },
  }
}

function errorsOf(value: unknown): readonly FieldError[] {
  const kind = kindOf(value)
  if (kind === undefined) {
    return [fieldError('kind', `has to be GitCommit or PullRequest of apiVersion ${API_VERSION}.`)]
  }
  const validate = kind === 'GitCommit' ? gitCommitValidator() : pullRequestValidator()
  // First, because the first fault decides whether trying again helps.
  const byField = new Map<string, FieldError>(unknownInSpec(kind, value).map((found) => [found.field, found]))
  if (validate(value)) return [...byField.values()]
  for (const error of validate.errors ?? []) {
    const found = fieldErrorOf(error)
    if (error.keyword !== 'if' && !byField.has(found.field)) byField.set(found.field, found)
  }
  return [...byField.values()]
}
