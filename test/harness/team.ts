import { member } from '../../functions/domain/json-value.ts'
import { applierBy } from './apply.ts'
import { ACCOUNTS, SYSTEM, untilAllowed } from './accounts.ts'
import { conditionsOf } from './conditions.ts'
import type { ControlPlane, Ran } from './control-plane.ts'
import { waitFor } from './wait.ts'

/** The token that the Git server of an installation accepts; distinctive, so that a leak is found. */
export const TOKEN = 'tkn-5uPerSecret-9f8e7d'

/** One namespace and the actions of a user in it. */
export interface Team {
  readonly namespace: string
  /** kubectl in this namespace. */
  kubectl(
    args: readonly string[],
    options?: Parameters<ControlPlane['kubectl']>[1],
  ): ReturnType<ControlPlane['kubectl']>
  /** Applies objects one after the other, server-side; throws the refusal of the first that is refused. */
  apply(...objects: readonly object[]): Promise<void>
  /** The same for one object as this user, or as the admin; returns the result in kubectl's form. */
  applyAs(user: string | undefined, object: object): Promise<Ran>
  /** The resource as stored. */
  get(name: string, kind?: string): Promise<Stored>
  /** Requests the resource again, as `kubectl annotate` does with commitlet.dev/requested-at. */
  request(name: string, value?: string, kind?: string): Promise<void>
  /** The resource once it is settled: current, and Succeeded or Failed. Throws after a minute. */
  settled(name: string, kind?: string): Promise<Stored>
  /**
   * Like `kubectl wait` for a GitCommit: `condition=TYPE` or `jsonpath={.status.FIELD}=VALUE`, with a timeout ('30s').
   * Throws where it does not become true in time.
   */
  waitFor(name: string, condition: string, timeout?: string, kind?: string): Promise<void>
  /** Merges this into the status. */
  patchStatus(name: string, status: object, kind?: string): Promise<void>
}

export interface Stored {
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly name: string
    readonly uid: string
    readonly generation: number
    readonly resourceVersion: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status: Readonly<Record<string, unknown>>
}

export interface TeamOptions {
  /** Names of the Secrets that the function may `get`; default: `git`. */
  readonly secrets?: readonly string[]
  /** Users who may do what a developer does with both kinds, and `get` ConfigMaps and the Secrets named. */
  readonly developers?: readonly string[]
}

/** Makes a namespace with the Secret `git`, which holds TOKEN, and with the rights of a tenant's namespace. */
export async function createTeam(plane: ControlPlane, options: TeamOptions = {}): Promise<Team> {
  const { secrets = ['git'], developers = [] } = options
  const namespace = await plane.createNamespace()
  const rights = `/apis/${RBAC}/v1/namespaces/${namespace}`
  const secret = {
    type: 'Opaque',
    metadata: { name: 'git' },
    stringData: { token: `${TOKEN}\n`, username: 'commitlet', password: TOKEN },
  }
  await Promise.all([
    plane.api.need('POST', `/api/v1/namespaces/${namespace}/secrets`, secret),
    ...rightsOf(secrets, developers).map((object) =>
      plane.api.need('POST', `${rights}/${'rules' in object ? 'roles' : 'rolebindings'}`, object),
    ),
  ])
  // One Role has them all.
  const [name] = secrets
  if (name !== undefined)
    await untilAllowed(plane, { account: 'function', verb: 'get', resource: `secrets/${name}`, namespace })
  return teamIn(plane, namespace)
}

const MERGE = { 'content-type': 'application/merge-patch+json' }
const PLURALS: Readonly<Record<string, string>> = { gitcommit: 'gitcommits', pullrequest: 'pullrequests' }

function teamIn(plane: ControlPlane, namespace: string): Team {
  const applier = applierBy(plane.api)
  const pathOf = (name: string, kind: string): string =>
    `/apis/commitlet.dev/v1/namespaces/${namespace}/${PLURALS[kind] ?? kind}/${name}`
  const team: Team = {
    namespace,
    kubectl: (args, options) => plane.kubectl(['-n', namespace, ...args], options),
    async apply(...objects) {
      for (const object of objects) {
        const { status, body } = await applier.apply(object, namespace)
        if (status >= 300) throw new Error(messageOf(body))
      }
    },
    async applyAs(user, object) {
      const { status, body, warnings } = await applier.apply(object, namespace, user)
      const stderr = warnings.map((warning) => `Warning: ${warning}\n`).join('')
      if (status >= 300) return { code: 1, stdout: '', stderr: stderr + refusalOf(body) }
      return { code: 0, stdout: status === 201 ? 'created' : 'configured', stderr }
    },
    async get(name, kind = 'gitcommit') {
      return (await plane.api.need('GET', pathOf(name, kind))) as Stored
    },
    async request(name, value = 'now', kind = 'gitcommit') {
      const patch = { metadata: { annotations: { 'commitlet.dev/requested-at': value } } }
      await plane.api.need('PATCH', pathOf(name, kind), patch, MERGE)
    },
    settled(name, kind) {
      const look = async (): Promise<Stored | undefined> => {
        const stored = await team.get(name, kind)
        return isSettled(stored) ? stored : undefined
      }
      return waitFor(`settled ${name}`, look, 60_000)
    },
    async waitFor(name, condition, timeout = '30s', kind = 'gitcommit') {
      const holds = predicateOf(condition)
      const look = async (): Promise<true | undefined> => holds(await team.get(name, kind)) || undefined
      await waitFor(`${condition} of ${name}`, look, Number.parseInt(timeout) * 1000)
    },
    async patchStatus(name, status, kind = 'gitcommit') {
      await plane.api.need('PATCH', `${pathOf(name, kind)}/status`, { status }, MERGE)
    },
  }
  return team
}

interface Cause {
  readonly field?: string
  readonly message: string
}

interface Denial {
  readonly reason?: unknown
  readonly details?: { readonly kind?: string; readonly name?: string; readonly causes?: readonly Cause[] }
}

// kubectl prints the causes of a 422 in place of its message.
function refusalOf(body: unknown): string {
  const { reason, details = {} } = body as Denial
  const { kind = '', name = '', causes = [] } = details
  const lines = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))
  const list = lines.length === 1 ? lines.join('') : lines.map((line) => `\n* ${line}`).join('')
  if (reason === 'Invalid' && list !== '') return `The ${kind} "${name}" is invalid: ${list}`
  return `Error from server (${String(reason)}): ${messageOf(body)}`
}

function messageOf(body: unknown): string {
  return String((body as { readonly message?: unknown }).message)
}

function predicateOf(condition: string): (stored: Stored) => boolean {
  const { type, field, value } =
    /^(?:condition=(?<type>\w+)|jsonpath=\{\.status\.(?<field>[\w.]+)\}=(?<value>.*))$/.exec(condition)
      ?.groups ?? {}
  if (type !== undefined)
    return (stored) => conditionsOf(stored).some((one) => one.type === type && one.status === 'True')
  if (field === undefined) throw new Error(`${condition} cannot be waited for.`)
  return ({ status }) =>
    String(field.split('.').reduce<unknown>((found, name) => member(found, name), status)) === value
}

function isSettled({ metadata, status }: Stored): boolean {
  const { phase, observedGeneration, lastHandledRequestedAt } = status
  if (observedGeneration !== metadata.generation) return false
  if (lastHandledRequestedAt !== metadata.annotations?.['commitlet.dev/requested-at']) return false
  return phase === 'Succeeded' || phase === 'Failed'
}

/** As examples/0-rights.yaml: the function may `get` the Secrets, and developers do their work. */
function rightsOf(secrets: readonly string[], developers: readonly string[]): readonly object[] {
  const readSecrets = { apiGroups: [''], resources: ['secrets'], resourceNames: secrets, verbs: ['get'] }
  const readConfigMaps = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }
  const commitlet = { kind: 'ServiceAccount', namespace: SYSTEM, name: ACCOUNTS.function }
  const users = developers.map((name) => ({ apiGroup: RBAC, kind: 'User', name }))
  return [
    role('commitlet-secrets', [readSecrets]),
    binding('commitlet-secrets', { kind: 'Role', name: 'commitlet-secrets' }, [commitlet]),
    role('developers', [readSecrets, readConfigMaps]),
    binding('developers', { kind: 'Role', name: 'developers' }, users),
    binding('commitlet-editor', { kind: 'ClusterRole', name: 'commitlet-editor' }, users),
  ]
}

const RBAC = 'rbac.authorization.k8s.io'

function role(name: string, rules: readonly object[]): object {
  return { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name }, rules }
}

function binding(name: string, referred: object, subjects: readonly object[]): object {
  const roleRef = { apiGroup: RBAC, ...referred }
  return { apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata: { name }, roleRef, subjects }
}
