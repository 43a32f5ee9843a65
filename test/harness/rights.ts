import type { ControlPlane, Ran } from './control-plane.ts'
import type { Team } from './team.ts'
import { waitFor } from './wait.ts'

const GROUP = 'rbac.authorization.k8s.io'
const API_VERSION = `${GROUP}/v1`
const DEADLINE = 30_000

/** One rule of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** Rules that tests grant; a Role of a namespace gives them there. */
export const RULES = {
  everything: { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  gitCommits: { apiGroups: ['commitlet.dev'], resources: ['gitcommits'], verbs: ['*'] },
  readConfigMaps: { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
  readSecrets: { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  useSecrets: { apiGroups: [''], resources: ['secrets'], verbs: ['use'] },
} as const satisfies Readonly<Record<string, Rule>>

/** A Role and its binding to one user, both of this name. */
export function grant(name: string, user: string, rules: readonly Rule[]): readonly object[] {
  return [
    { apiVersion: API_VERSION, kind: 'Role', metadata: { name }, rules },
    {
      apiVersion: API_VERSION,
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: GROUP, kind: 'Role', name },
      subjects: [{ apiGroup: GROUP, kind: 'User', name: user }],
    },
  ]
}

/** Runs it until its output matches: the API server applies rights a moment after they are stored. */
export function until(what: string, run: () => Promise<Ran>, says: RegExp): Promise<Ran> {
  async function look(): Promise<Ran | undefined> {
    const ran = await run()
    return says.test(ran.stdout + ran.stderr) ? ran : undefined
  }
  return waitFor(what, look, DEADLINE)
}

/** kubectl in one namespace: a Team has it. */
type Kubectl = Pick<ControlPlane, 'kubectl'>

/** Applies one object as this user, server-side; returns the result, success or not. */
export function applyAs(team: Pick<Team, 'applyAs'>, user: string, object: object): Promise<Ran> {
  return team.applyAs(user, object)
}

/** `kubectl apply` of one object as this user, with more flags; returns the result, success or not. */
export function kubectlApplyAs(
  team: Kubectl,
  user: string,
  object: object,
  ...flags: readonly string[]
): Promise<Ran> {
  const options = { input: JSON.stringify(object), allowFailure: true }
  return team.kubectl(['apply', '-f', '-', `--as=${user}`, ...flags], options)
}

/** The groups that the API server gives a user by its name alone, as where it is impersonated. */
function groupsOf(user: string): readonly string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):/.exec(user) ?? []
  const ofAccount = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return ['system:authenticated', ...(namespace === undefined ? [] : ofAccount)]
}

/**
 * Whether this user may do this (resourceAttributes of a SubjectAccessReview, or nonResourceAttributes, which have a
 * path). `kubectl auth can-i` takes a process, and asks for another resource where none of the name is served.
 */
export async function reviewed(
  { api }: Pick<ControlPlane, 'api'>,
  user: string | { readonly user: string; readonly groups: readonly string[] },
  attributes: Readonly<Record<string, string>>,
): Promise<boolean> {
  const kind = 'path' in attributes ? 'nonResourceAttributes' : 'resourceAttributes'
  const who = typeof user === 'string' ? { user, groups: groupsOf(user) } : user
  const spec = { ...who, [kind]: attributes }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const answered = await api.need('POST', path, review)
  return (answered as { readonly status: { readonly allowed: boolean } }).status.allowed
}
