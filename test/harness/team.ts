import { ACCOUNTS, SYSTEM, untilAllowed } from './accounts.ts'
import type { ControlPlane } from './control-plane.ts'
import { waitFor } from './wait.ts'

/** The token that the Git server of an installation takes; distinctive, so that a leak is found. */
export const TOKEN = 'tkn-5uPerSecret-9f8e7d'

/** One namespace and what a user does in it. */
export interface Team {
  readonly namespace: string
  /** kubectl in this namespace. */
  kubectl(
    args: readonly string[],
    options?: Parameters<ControlPlane['kubectl']>[1],
  ): ReturnType<ControlPlane['kubectl']>
  /** kubectl apply of manifests, given as objects. */
  apply(...objects: readonly object[]): Promise<void>
  /** The resource as stored. */
  get(name: string, kind?: string): Promise<Stored>
  /** The resource once it is settled: current, and Succeeded or Failed. Throws where that takes a minute. */
  settled(name: string, kind?: string): Promise<Stored>
  /** kubectl wait; throws where it does not come true in time. */
  waitFor(name: string, condition: string, timeout?: string): Promise<void>
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

/** Makes a namespace with the Secret `git`, which holds TOKEN, and with the rights that a tenant's namespace has. */
export async function createTeam(plane: ControlPlane, options: TeamOptions = {}): Promise<Team> {
  const { secrets = ['git'], developers = [] } = options
  const namespace = await plane.createNamespace()
  const team = teamIn(plane, namespace)
  await team.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: { name: 'git' },
      stringData: { token: `${TOKEN}\n`, username: 'commitlet', password: TOKEN },
    },
    ...rightsOf(secrets, developers),
  )
  for (const name of secrets)
    await untilAllowed(plane, { account: 'function', verb: 'get', resource: `secrets/${name}`, namespace })
  return team
}

function teamIn(plane: ControlPlane, namespace: string): Team {
  const team: Team = {
    namespace,
    kubectl: (args, options) => plane.kubectl(['-n', namespace, ...args], options),
    async apply(...objects) {
      const input = objects.map((object) => JSON.stringify(object)).join('\n')
      await team.kubectl(['apply', '-f', '-'], { input })
    },
    async get(name, kind = 'gitcommit') {
      const { stdout } = await team.kubectl(['get', kind, name, '-o', 'json'])
      return JSON.parse(stdout) as Stored
    },
    settled(name, kind) {
      const look = async (): Promise<Stored | undefined> => {
        const stored = await team.get(name, kind)
        return isSettled(stored) ? stored : undefined
      }
      return waitFor(`settled ${name}`, look, 60_000)
    },
    async waitFor(name, condition, timeout = '30s') {
      await team.kubectl(['wait', 'gitcommit', name, `--for=${condition}`, `--timeout=${timeout}`])
    },
  }
  return team
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
