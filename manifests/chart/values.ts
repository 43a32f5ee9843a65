import { stringify } from 'yaml'

/** A JSON Schema (draft 7) of one value, as Helm checks it. */
type ValueSchema = Readonly<Record<string, unknown>>

/** One value of the chart, or a group of them. */
interface Value {
  readonly description: string
  readonly default: unknown
  readonly schema: ValueSchema
}
interface Group {
  readonly [name: string]: Value | Group
}

const TEXT: ValueSchema = { type: 'string', minLength: 1 }
const FLAG: ValueSchema = { type: 'boolean' }
const COUNT: ValueSchema = { type: 'integer', minimum: 0, maximum: 1_000 }
/** Numbers of users that Kubernetes takes, without root. */
const USER: ValueSchema = { type: 'integer', minimum: 1, maximum: 2_147_483_647 }
const RESOURCES: ValueSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { requests: { type: 'object' }, limits: { type: 'object' } },
}
const ENV: ValueSchema = {
  type: 'array',
  items: { type: 'object', required: ['name'], properties: { name: TEXT } },
}
const ENV_DESCRIPTION =
  'More variables, as in a container: default credentials, traces (docs/configuration.md)'

/** The values of the chart. The defaults install what manifests/ and knative.yaml do. `settings`: the names of the settings. */
export function chartValues(settings: readonly string[]): Group {
  return {
    image: {
      repository: value(
        'The image of both parts: your own (docs/install.md)',
        'registry.example.com/commitlet',
        TEXT,
      ),
      tag: value('Default: the version of the chart', '', { type: 'string' }),
      pullSecrets: value('Secrets to pull it with, such as [{name: commitlet-registry}]', [], {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['name'],
          properties: { name: TEXT },
        },
      }),
    },
    clusterDomain: value("The domain of the cluster's Services", 'cluster.local', TEXT),
    openshift: value("For OpenShift's restricted-v2, which chooses users and groups itself", false, FLAG),
    runAsUser: value(
      'The user and the group of both parts: for clusters of several tenants, a number that no pod of theirs has (docs/install.md)',
      65_532,
      USER,
    ),
    crds: {
      install: value('Whether both kinds are installed; they stay when the chart is uninstalled', true, FLAG),
    },
    certificate: {
      from: value(
        'The serving certificate of the webhook: `secret` (manifests/setup/certificate.sh), `cert-manager`, or `webhook` (it makes its own)',
        'secret',
        { enum: ['secret', 'cert-manager', 'webhook'] },
      ),
    },
    webhook: {
      replicas: value('Pods of the webhook', 2, COUNT),
      sink: value('Where events go; default: the Service of the function', '', {
        type: 'string',
        pattern: '^(https?://.+)?$',
      }),
      priorityClassName: value(
        'The priority of its pods; empty for that of other pods, which tenants may take their place from',
        'system-cluster-critical',
        { type: 'string' },
      ),
      env: value(ENV_DESCRIPTION, [], ENV),
      resources: value(
        'Of its container',
        { requests: { cpu: '250m', memory: '128Mi' }, limits: { memory: '512Mi' } },
        RESOURCES,
      ),
    },
    function: {
      kind: value(
        'How the function runs: `knative`, `deployment`, or `none` (you install it yourself)',
        'knative',
        {
          enum: ['knative', 'deployment', 'none'],
        },
      ),
      replicas: value('Pods of the function, as a Deployment', 2, COUNT),
      minScale: value('Fewest pods of the function, on Knative', 0, COUNT),
      maxScale: value('Most pods of the function, on Knative', 4, COUNT),
      target: value('Events in a pod, of which Knative fills 70 %', 300, {
        ...COUNT,
        minimum: 1,
        maximum: 100_000,
      }),
      priorityClassName: value(
        'The priority of its pods; a Deployment has system-cluster-critical without it, and Knative accepts one only where its feature kubernetes.podspec-priorityclassname is enabled (docs/install.md)',
        '',
        { type: 'string' },
      ),
      timeoutSeconds: value('ATTEMPT_DEADLINE plus 60', 180, { ...COUNT, minimum: 61 }),
      env: value(ENV_DESCRIPTION, [], ENV),
      resources: value(
        'Of its container',
        { requests: { cpu: '500m', memory: '256Mi' }, limits: { memory: '2Gi' } },
        RESOURCES,
      ),
    },
    reader: {
      allConfigMaps: value('Whether the function may read the ConfigMaps of all namespaces', true, FLAG),
      workloads: value('Whether it may read Services, workloads and networking', false, FLAG),
    },
    monitoring: {
      enabled: value(
        'PodMonitors, alerts and the dashboard; needs the kinds of the Prometheus Operator',
        false,
        FLAG,
      ),
    },
    settings: value(
      "The operator's settings (docs/configuration.md), such as ALLOWED_REPOSITORIES: git.example.com/acme",
      {},
      {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(
          settings.map((name) => [name, { type: ['string', 'number', 'boolean'] }]),
        ),
      },
    ),
  }
}

/** `values.yaml`: each value with its description above it. */
export function valuesText(group: Group, indent = ''): string {
  const parts = Object.entries(group).map(([name, one]) => {
    if (!isValue(one)) return `${indent}${name}:\n${valuesText(one, `${indent}  `)}`
    const [first = '', ...more] = stringify({ [name]: one.default }, { lineWidth: 0 })
      .trimEnd()
      .split('\n')
    return [`# ${one.description}.`, first, ...more].map((line) => `${indent}${line}\n`).join('')
  })
  return parts.join(indent === '' ? '\n' : '')
}

/** `values.schema.json`. */
export function valuesSchema(group: Group): ValueSchema {
  const properties = Object.entries(group).map(([name, one]) => [
    name,
    isValue(one) ? { description: one.description, ...one.schema } : valuesSchema(one),
  ])
  return {
    type: 'object',
    additionalProperties: false,
    // Helm itself sets `global`.
    properties: { global: { type: 'object' }, ...(Object.fromEntries(properties) as ValueSchema) },
  }
}

function value(description: string, byDefault: unknown, schema: ValueSchema): Value {
  return { description, default: byDefault, schema }
}

function isValue(one: Value | Group): one is Value {
  return 'schema' in one
}
