import { elements, isRecord } from '../functions/domain/json-value.ts'
import { parseJSONText } from '../functions/domain/manifest/json-text.ts'
import { GROUP, PLURALS, VERSION } from '../functions/domain/resource/api-names.ts'
import type { Kind } from '../functions/domain/resource/api-names.ts'
import { GITCOMMIT_SPEC } from '../functions/domain/crd/git-commit.ts'
import { PULLREQUEST_SPEC } from '../functions/domain/crd/pull-request.ts'
import { GITCOMMIT_STATUS } from '../functions/domain/crd/git-commit-status.ts'
import { PULLREQUEST_STATUS } from '../functions/domain/crd/status.ts'
import type { Schema } from '../functions/domain/crd/schema.ts'
import { toYAML } from '../functions/domain/manifest/yaml-text.ts'
import { referencePage } from './reference.ts'

const NOTICE = '# Generated from functions/domain/crd/*.ts by "npm run generate"; edit those files instead.\n'

/** A printer column (apiextensions.k8s.io/v1); a column with a priority above 0 is only shown with `-o wide`. */
interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date'
  readonly jsonPath: string
  readonly priority?: number
  readonly description: string
}

interface Definition {
  readonly kind: Kind
  readonly shortName: string
  readonly description: string
  readonly spec: Schema
  readonly status: Schema
  readonly columns: readonly Column[]
  /** Fields besides the phase by which a list can be filtered. */
  readonly selectable?: readonly string[]
}

function column(name: string, jsonPath: string, rest: Omit<Column, 'name' | 'jsonPath'>): Column {
  return { name, jsonPath, ...rest }
}

function condition(name: string, member: string): Column {
  const description = `The ${member} of the condition Ready.`
  return column(name, `.status.conditions[?(@.type=="Ready")].${member}`, { type: 'string', description })
}

const READY = [condition('Ready', 'status'), condition('Reason', 'reason')]
const AGE = column('Age', '.metadata.creationTimestamp', {
  type: 'date',
  description: 'The age of the resource.',
})
const WIDE = [
  // A column of type date shows every future time as <invalid>.
  column('Next attempt', '.status.nextAttemptTime', {
    type: 'string',
    priority: 1,
    description: 'When the next attempt is due.',
  }),
  column('Observed', '.status.observedGeneration', {
    type: 'integer',
    priority: 1,
    description: 'The generation that the status describes.',
  }),
  column('Handled', '.status.lastHandledRequestedAt', {
    type: 'string',
    priority: 1,
    description: `The value of ${GROUP}/requested-at that was last handled.`,
  }),
  // The longest column: last, so that it does not push the others apart.
  { ...condition('Message', 'message'), priority: 1 },
]

const DEFINITIONS: readonly Definition[] = [
  {
    kind: 'GitCommit',
    shortName: 'gcommit',
    description:
      'A GitCommit puts the content of a cluster object at a path on a branch of a Git repository, as one commit. ' +
      'Deleting it leaves the repository as it is.',
    spec: GITCOMMIT_SPEC,
    status: GITCOMMIT_STATUS,
    columns: [
      ...READY,
      column('Branch', '.status.commit.branch', {
        type: 'string',
        description: 'The branch that was written.',
      }),
      column('Commit', '.status.commit.shortSHA', {
        type: 'string',
        description: 'The commit that holds it.',
      }),
      AGE,
      column('Repository', '.spec.repository', {
        type: 'string',
        priority: 1,
        description: 'The address of the repository.',
      }),
      column('Interval', '.spec.interval', {
        type: 'string',
        priority: 1,
        description:
          'With sync: OnChange, how often it is looked for changes without an event; 10m if empty.',
      }),
      ...WIDE,
    ],
    selectable: ['.spec.sync'],
  },
  {
    kind: 'PullRequest',
    shortName: 'gpr',
    description:
      'A PullRequest opens a pull request (merge request) between two branches of a Git repository. Deleting it ' +
      'leaves the pull request as it is.',
    spec: PULLREQUEST_SPEC,
    status: PULLREQUEST_STATUS,
    columns: [
      ...READY,
      column('Number', '.status.pullRequest.number', {
        type: 'integer',
        description: 'Its number at the provider.',
      }),
      column('State', '.status.pullRequest.state', {
        type: 'string',
        description: 'The state of the pull request.',
      }),
      AGE,
      column('URL', '.status.pullRequest.url', {
        type: 'string',
        priority: 1,
        description: 'Its web address.',
      }),
      ...WIDE,
    ],
  },
]

/** The CustomResourceDefinitions by the path of their file, relative to this folder. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map(
    DEFINITIONS.map((definition) => [`crds/${PLURALS[definition.kind]}.yaml`, crdFile(definition)]),
  )
}

/** The pages of docs/ with all fields of each kind, by the path of their file, relative to docs/. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map(
    DEFINITIONS.map((definition) => [
      `reference-${definition.kind.toLowerCase()}.md`,
      referencePage(definition),
    ]),
  )
}

function crdFile(definition: Definition): string {
  // Replaces our own keywords, which the API server does not know, and removes undefined members.
  const json = JSON.stringify(crd(definition), (key, value: unknown) =>
    key === 'expects' || key === 'oneRequired' ? undefined : translated(value),
  )
  return NOTICE + toYAML(parseJSONText(json))
}

function translated(value: unknown): unknown {
  if (!isRecord(value)) return value
  const names = elements(value['oneRequired'])
  return {
    ...value,
    ...(names.length > 0 ? { oneOf: names.map((name) => ({ required: [name] })) } : {}),
    // Otherwise the API server drops a null after admission has signed it.
    ...(value['x-kubernetes-preserve-unknown-fields'] === true ? { nullable: true } : {}),
  }
}

function crd(definition: Definition): object {
  const plural = PLURALS[definition.kind]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind: definition.kind,
        listKind: `${definition.kind}List`,
        plural,
        singular: definition.kind.toLowerCase(),
        shortNames: [definition.shortName],
        categories: ['commitlet'],
      },
      versions: [version(definition)],
    },
  }
}

function version({ description, spec, status, columns, selectable = [] }: Definition): object {
  const name = { type: 'string', maxLength: 253 }
  return {
    name: VERSION,
    served: true,
    storage: true,
    subresources: { status: {} },
    selectableFields: ['.status.phase', ...selectable].map((jsonPath) => ({ jsonPath })),
    additionalPrinterColumns: columns,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description,
        required: ['spec'],
        properties: {
          apiVersion: { ...name, description: `The version of this API: ${GROUP}/${VERSION}.` },
          kind: { ...name, description: 'The kind of this resource.' },
          metadata: { type: 'object' },
          spec,
          status,
        },
      },
    },
  }
}
