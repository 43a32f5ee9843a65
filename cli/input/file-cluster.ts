import { CONFLICT, type Cluster, type Secret } from '../../functions/cluster/cluster.ts'
import type { ServedKind } from '../../functions/domain/gate/access.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { entries, member, textMember } from '../../functions/domain/json-value.ts'
import { MISSING } from '../../functions/domain/resource/waiting.ts'
import type { FileObject } from './objects.ts'

/** The cluster-scoped kinds that Kubernetes itself serves; of others, objects without a namespace get the usual one. */
const CLUSTER_SCOPED = [
  'APIService',
  'ClusterRole',
  'ClusterRoleBinding',
  'CSIDriver',
  'CustomResourceDefinition',
  'IngressClass',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]

/** Files in the place of a cluster, or over one. */
export interface FileCluster {
  readonly objects: readonly FileObject[]
  /** Of objects whose files name none. */
  readonly namespace: string
  /** Asked for what no file holds; left out: there is nothing else. */
  readonly under?: Cluster
}

/**
 * The port Cluster over the objects of files. Who has the files may do everything with them; without a cluster nothing is
 * written, and nobody else writes.
 */
export function fileCluster({ objects, namespace, under }: FileCluster): Cluster {
  function find(kind: string, wanted: string | undefined, name: string): FileObject | undefined {
    return objects.findLast(
      (object) =>
        object.kind === kind &&
        object.name === name &&
        (wanted === undefined || (object.namespace ?? namespace) === wanted),
    )
  }

  async function elsewhere<T>(what: string, ask: (cluster: Cluster) => Promise<T>): Promise<T> {
    if (under !== undefined) return ask(under)
    const message = `There is no ${what} in the files; add its file, or fix its name in the spec.`
    throw new Failure('ReferenceNotFound', message)
  }

  return {
    now: () => under?.now() ?? new Date(),
    readResource: (ref) => {
      const found = find(ref.kind, ref.namespace, ref.name)
      return found === undefined && under !== undefined
        ? under.readResource(ref)
        : Promise.resolve(found?.value)
    },
    async readObject(ref, served, by) {
      const of = served.namespaced ? ref.namespace : undefined
      const found = find(ref.kind, of, ref.name)
      if (found?.apiVersion === ref.apiVersion) return found.jsonIn(of)
      return elsewhere(`${ref.kind} ${ref.name} of ${ref.apiVersion}`, (cluster) =>
        cluster.readObject(ref, served, by),
      )
    },
    async discover(apiVersion, kind) {
      const known = under === undefined ? undefined : await under.discover(apiVersion, kind)
      const inFiles = objects.some((object) => object.apiVersion === apiVersion && object.kind === kind)
      if (known !== undefined || !inFiles) return known
      return servedAs(kind)
    },
    readSecret: (of, name, by) => {
      const found = find('Secret', of, name)
      if (found !== undefined) return Promise.resolve(secretOf(found, of))
      return elsewhere(`Secret ${of}/${name}`, (cluster) => cluster.readSecret(of, name, by))
    },
    readVersion: (ref, served, by) => {
      const found = find(ref.kind, served.namespaced ? ref.namespace : undefined, ref.name)
      return found === undefined && under !== undefined
        ? under.readVersion(ref, served, by)
        : Promise.resolve(found === undefined ? MISSING : 'file')
    },
    // Rights are the cluster's, whether an object is applied already or not.
    reviewAccess: (user, access) => under?.reviewAccess(user, access) ?? Promise.resolve(true),
    knowsRights: () => under?.knowsRights() ?? Promise.resolve(true),
    patchStatus: () => Promise.resolve(CONFLICT),
    listPage: () => Promise.resolve({ rows: [], next: undefined }),
    listUnsettled: () => Promise.resolve([]),
    recordEvent: () => Promise.resolve(),
    flushEvents: () => Promise.resolve(),
  }
}

/** How most kinds are served; the plural matters for reviews alone. */
function servedAs(kind: string): ServedKind {
  const lower = kind.toLowerCase()
  const plural = /[^aeiou]y$/.test(lower)
    ? `${lower.slice(0, -1)}ies`
    : `${lower}${/s$|ss$|x$|ch$/.test(lower) ? 'es' : 's'}`
  return { plural, namespaced: !CLUSTER_SCOPED.includes(kind) }
}

function secretOf({ value, name }: FileObject, namespace: string): Secret {
  const data = new Map<string, Uint8Array>()
  for (const [key, text] of entries(member(value, 'data'))) data.set(key, Buffer.from(String(text), 'base64'))
  for (const [key, text] of entries(member(value, 'stringData'))) data.set(key, Buffer.from(String(text)))
  const annotations = entries(member(member(value, 'metadata'), 'annotations'))
  return {
    namespace,
    name,
    type: textMember(value, 'type') ?? 'Opaque',
    version: 'file',
    annotations: Object.fromEntries(annotations.map(([key, text]) => [key, String(text)])),
    data,
  }
}
