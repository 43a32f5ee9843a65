/** The kinds of Kubernetes itself that users commit, by their API version (https://kubernetes.io/docs/reference/kubernetes-api/). */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'ConfigMap',
    'Endpoints',
    'LimitRange',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Service',
    'ServiceAccount',
  ],
  'admissionregistration.k8s.io/v1': [
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'autoscaling/v2': ['HorizontalPodAutoscaler'],
  'batch/v1': ['CronJob', 'Job'],
  'discovery.k8s.io/v1': ['EndpointSlice'],
  'networking.k8s.io/v1': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'storage.k8s.io/v1': ['StorageClass'],
}

/** Short names of kubectl (`kubectl api-resources`). */
const SHORT: ReadonlyMap<string, string> = new Map([
  ['cm', 'ConfigMap'],
  ['cj', 'CronJob'],
  ['crd', 'CustomResourceDefinition'],
  ['deploy', 'Deployment'],
  ['ds', 'DaemonSet'],
  ['hpa', 'HorizontalPodAutoscaler'],
  ['ing', 'Ingress'],
  ['netpol', 'NetworkPolicy'],
  ['ns', 'Namespace'],
  ['pdb', 'PodDisruptionBudget'],
  ['po', 'Pod'],
  ['pvc', 'PersistentVolumeClaim'],
  ['quota', 'ResourceQuota'],
  ['sa', 'ServiceAccount'],
  ['sts', 'StatefulSet'],
  ['svc', 'Service'],
])

const PLURALS = [
  [/s$/, ''],
  [/es$/, ''],
  [/ies$/, 'y'],
] as const

/** Groups in which Kubernetes had its own kinds once, or has them. */
const OWN_GROUP =
  /^(?:v1(?:beta[12]|alpha1)?|(?:extensions|(?:[a-z.]+\.)?k8s\.io|apps|autoscaling|batch|policy)\/.+)$/

/**
 * The kind of Kubernetes that was probably meant where the cluster does not know what was written, as `kind and its API
 * version`: letter case, a plural, a short name of kubectl, another group or version. Undefined: it cannot be told.
 */
export function meantKind(apiVersion: string, kind: string): string | undefined {
  if (!OWN_GROUP.test(apiVersion)) return undefined
  const lower = kind.toLowerCase()
  const names = [
    SHORT.get(lower)?.toLowerCase() ?? lower,
    ...PLURALS.map(([end, one]) => lower.replace(end, one)),
  ]
  for (const [version, kinds] of Object.entries(KINDS)) {
    const meant = kinds.find((known) => names.includes(known.toLowerCase()))
    if (meant !== undefined)
      return version === apiVersion && meant === kind ? undefined : `${meant} of ${version}`
  }
  return undefined
}
