import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import { Failure } from './failure.ts'
import { fault } from './fault.ts'
import type { Fault } from './fault.ts'
import { member } from './member.ts'
import { API_VERSION } from './resources.ts'
import type { GitCommit, Kind, PullRequest, Resource } from './resources.ts'
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
  const { gitCommit, pullRequest } = validators()
  if (gitCommit(value)) return value
  if (pullRequest(value)) return value
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

interface Validators {
  readonly gitCommit: ValidateFunction<GitCommit>
  readonly pullRequest: ValidateFunction<PullRequest>
}

let compiled: Validators | undefined

// Compiling takes longer than the rest of a start, so the first use pays for it; it is the same each time.
function validators(): Validators {
  compiled ??= compile()
  return compiled
}

function compile(): Validators {
  const ajv = new Ajv({ allErrors: true, verbose: true, ownProperties: true, strictTypes: false })
  ajv.addVocabulary([
    'expects',
    'x-kubernetes-map-type',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-validations',
  ])
  ajv.addFormat('int32', true).addFormat('int64', true)
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/)
  return {
    gitCommit: ajv.compile<GitCommit>(stored('GitCommit', GITCOMMIT_SPEC, GITCOMMIT_STATUS)),
    pullRequest: ajv.compile<PullRequest>(stored('PullRequest', PULLREQUEST_SPEC, PULLREQUEST_STATUS)),
  }
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
      spec: withBoundedLists(spec),
      status: withBoundedLists(status),
    },
  }
}

// The entries of a list that is too long are not looked at: a million of them would make a million faults.
function withBoundedLists({ items, ...schema }: Schema): object {
  const properties = Object.entries(schema.properties ?? {})
  const bounded = Object.fromEntries(properties.map(([name, property]) => [name, withBoundedLists(property)]))
  if (items === undefined) return { ...schema, ...(properties.length === 0 ? {} : { properties: bounded }) }
  const isSet = schema['x-kubernetes-list-type'] === 'set'
  const then = { items: withBoundedLists(items), uniqueItems: isSet }
  return { ...schema, if: { maxItems: schema.maxItems }, then }
}

function faultsOf(value: unknown): readonly Fault[] {
  const kind = kindOf(value)
  if (kind === undefined) {
    return [fault('kind', `has to be GitCommit or PullRequest of apiVersion ${API_VERSION}.`)]
  }
  const { gitCommit, pullRequest } = validators()
  const validate = kind === 'GitCommit' ? gitCommit : pullRequest
  if (validate(value)) return []
  const faults = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if').map(faultOf)
  return faults.filter(({ field }, index) => faults.findIndex((other) => other.field === field) === index)
}
