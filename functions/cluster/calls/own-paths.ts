import { GROUP } from '../../domain/resource/api-names.ts'

/** The groups that the API server serves itself and that are called here: nobody can put an API of their own in their place. */
const OWN_GROUPS: readonly string[] = [
  GROUP,
  'admissionregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
]

/**
 * Whether the API server itself answers a call of this path. Otherwise it may pass on what an aggregated API answers: anything,
 * and at any time. Only what is under /apis can be passed on:
 * https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
 */
export function isOwnPath(path: string): boolean {
  const [, root, group = ''] = path.split('/', 3)
  return root !== 'apis' || OWN_GROUPS.includes(group)
}
