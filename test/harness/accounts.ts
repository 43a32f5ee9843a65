import { fillAggregatedRoles } from './aggregated-roles.ts'
import type { ControlPlane } from './control-plane.ts'
import { waitFor } from './wait.ts'

/** The namespace of both parts. */
export const SYSTEM = 'commitlet-system'

/** The service accounts of both parts, as manifests/accounts.yaml makes them. */
export const ACCOUNTS = { function: 'commitlet-function', webhook: 'commitlet-webhook' } as const

const DEADLINE = 30_000
const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

/** One permission; `resource` is `plural`, `plural.group` or `plural/name`. */
export interface Permission {
  readonly account: keyof typeof ACCOUNTS
  readonly verb: string
  readonly resource: string
  /** Default: all namespaces. */
  readonly namespace?: string
}

/** Kubeconfigs of both parts: each with a token of its service account, and no client certificate. */
export async function accountConfigs(
  plane: ControlPlane,
): Promise<Readonly<Record<keyof typeof ACCOUNTS, string>>> {
  const [ofFunction, ofWebhook] = await Promise.all([
    plane.tokenFor(ACCOUNTS.function, SYSTEM),
    plane.tokenFor(ACCOUNTS.webhook, SYSTEM),
  ])
  return { function: ofFunction, webhook: ofWebhook }
}

/** The API server learns of a binding a moment after it is stored; this waits for that moment. */
export async function untilAllowed(plane: ControlPlane, permission: Permission): Promise<void> {
  const { account, verb, resource, namespace } = permission
  const [named = '', name] = resource.split('/')
  const [plural = '', ...group] = named.split('.')
  const review = {
    spec: {
      user: `system:serviceaccount:${SYSTEM}:${ACCOUNTS[account]}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${SYSTEM}`, 'system:authenticated'],
      resourceAttributes: { verb, group: group.join('.'), resource: plural, name, namespace },
    },
  }
  async function may(): Promise<true | undefined> {
    const answered = await plane.api.need('POST', REVIEWS, review)
    return (answered as { readonly status: { readonly allowed: boolean } }).status.allowed || undefined
  }
  await waitFor(`right to ${verb} ${resource}`, may, DEADLINE)
}

/** Lets the function `get` the objects of one more kind, as a platform team does: its rule joins commitlet-reader. */
export async function extendReader(plane: ControlPlane, apiGroup: string, plural: string): Promise<void> {
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `commitlet-reader-${plural}`,
      labels: { 'commitlet.dev/aggregate-to-reader': 'true' },
    },
    rules: [{ apiGroups: [apiGroup], resources: [plural], verbs: ['get'] }],
  }
  const resource = apiGroup === '' ? plural : `${plural}.${apiGroup}`
  await extendReaderBy(plane, `${JSON.stringify(role)}\n`, resource)
}

/** The same by a manifest, given as a file or a text; `resource` (`plural.group`) is one that it grants. */
export async function extendReaderBy(
  plane: ControlPlane,
  fileOrText: string,
  resource: string,
): Promise<void> {
  await plane.apply(fileOrText)
  await fillAggregatedRoles(plane)
  await untilAllowed(plane, { account: 'function', verb: 'get', resource })
}
