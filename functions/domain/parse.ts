import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import { Failure } from './failure.ts'
import { fault } from './fault.ts'
import type { Fault } from './fault.ts'
import { member } from './member.ts'
import { API_VERSION } from './resources.ts'
import type { GitCommit, Kind, PullRequest, Resource } from './resources.ts'
import { boundedFirst, isLonger } from './schema-bounds.ts'
import { faultOf } from './schema-fault.ts'
import { GITCOMMIT_SPEC } from './schema-gitcommit.ts'
import { PULLREQUEST_SPEC } from './schema-pullrequest.ts'
import { GITCOMMIT_STATUS, PULLREQUEST_STATUS } from './schema-status.ts'
import type { Schema } from './schema-type.ts'

/**
 * Makes a resource of what the API server stores: apiVersion, kind, the metadata that it always sets, spec and
 * status by the schemas of the CRDs. Throws InvalidSpec with a sentence for each fault.
 */
export function parseResource(value: unknown): Resource {
  const kind = kindOf(value)
  if (kind === 'GitCommit' && gitCommitValidator()(value)) return value
  if (kind === 'PullRequest' && pullRequestValidator()(value)) return value
  const messages = faultsOf(value).map(({ message }) => message)
  throw new Failure('InvalidSpec', messages.join(' '))
}

/**
 * What the schema finds wrong with the spec, one fault for a field. The object need not be stored yet: of its
 * metadata nothing is asked.
 */
export function schemaFaults(value: unknown): readonly Fault[] {
  return faultsOf(value).filter(({ field }) => !/^(?:metadata|status)\b/.test(field))
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
  compiled.gitCommit ??= compiler().compile<GitCommit>(stored('GitCommit', GITCOMMIT_SPEC, GITCOMMIT_STATUS))
  return compiled.gitCommit
}

function pullRequestValidator(): ValidateFunction<PullRequest> {
  compiled.pullRequest ??= compiler().compile<PullRequest>(
    stored('PullRequest', PULLREQUEST_SPEC, PULLREQUEST_STATUS),
  )
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

function stored(kind: Kind, spec: Schema, status: Schema): object {
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
      status: boundedFirst(status),
    },
  }
}

function faultsOf(value: unknown): readonly Fault[] {
  const kind = kindOf(value)
  if (kind === undefined) {
    return [fault('kind', `has to be GitCommit or PullRequest of apiVersion ${API_VERSION}.`)]
  }
  const validate = kind === 'GitCommit' ? gitCommitValidator() : pullRequestValidator()
  if (validate(value)) return []
  const byField = new Map<string, Fault>()
  for (const error of validate.errors ?? []) {
    const found = faultOf(error)
    if (error.keyword !== 'if' && !byField.has(found.field)) byField.set(found.field, found)
  }
  return [...byField.values()]
}
