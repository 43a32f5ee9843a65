import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type {
  Cluster,
  ClusterEvent,
  ListedResource,
  ListPage,
  ListQuery,
} from '../../functions/cluster/cluster.ts'
import { CONFLICT } from '../../functions/cluster/cluster.ts'
import type { Access, ServedKind } from '../../functions/domain/gate/access.ts'
import { envelopeOf, refOf } from '../../functions/domain/resource/envelope.ts'
import { MISSING } from '../../functions/domain/resource/waiting.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import type { Kind } from '../../functions/domain/resource/api-names.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import type { UserInfo } from '../../functions/domain/requester/user-info.ts'
import { API_VERSION, REQUESTED_AT } from '../../functions/domain/resource/api-names.ts'

/** An object of any kind, as a file of examples/ holds it. */
export interface StoredObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly name: string
    readonly namespace?: string
  }
  readonly [field: string]: unknown
}

/** A stand-in for a cluster behind the `cluster/` port, with what both parts rely on: uid, generation, conflict. */
export interface MemoryCluster extends Cluster {
  /** Creates or replaces an object as the API server would; returns what is stored then. */
  apply(object: StoredObject): StoredObject
  get(kind: string, namespace: string, name: string): StoredObject | undefined
  remove(kind: string, namespace: string, name: string): void
  readonly notices: ClusterEvent[]
  /** Every review that was asked for. */
  readonly reviews: { readonly user: UserInfo; readonly access: Access }[]
  /** Decides every review; everyone may do everything until a test sets it. */
  mayAccess: (user: UserInfo, access: Access) => boolean
}

/** Kinds that are served here, in addition to the two of Commitlet. */
const KINDS: Readonly<Record<string, ServedKind>> = {
  'v1 ConfigMap': { plural: 'configmaps', namespaced: true },
  'v1 Secret': { plural: 'secrets', namespaced: true },
  'v1 Service': { plural: 'services', namespaced: true },
  'apps/v1 Deployment': { plural: 'deployments', namespaced: true },
  'rbac.authorization.k8s.io/v1 ClusterRole': { plural: 'clusterroles', namespaced: false },
}

/** Rows of a page, as the API server is asked for. */
const PAGE_SIZE = 50

/** Makes an empty one. */
export function memoryCluster(): MemoryCluster {
  const objects = new Map<string, StoredObject>()
  const notices: ClusterEvent[] = []
  const reviews: MemoryCluster['reviews'] = []
  let revision = 0

  const keyOf = (kind: string, namespace: string | undefined, name: string): string =>
    [kind, namespace ?? '', name].join('/')

  function store(object: StoredObject): StoredObject {
    revision += 1
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
    objects.set(keyOf(object.kind, object.metadata.namespace, object.metadata.name), stored)
    return stored
  }

  function apply(object: StoredObject): StoredObject {
    const before = objects.get(keyOf(object.kind, object.metadata.namespace, object.metadata.name))
    const ours = object.apiVersion === API_VERSION
    const status = before?.status ?? (ours ? { observedGeneration: -1, phase: 'Pending' } : object.status)
    const changed = before !== undefined && !isDeepStrictEqual(before.spec, object.spec)
    const generation = Number(before?.metadata.generation ?? 1) + (changed ? 1 : 0)
    const uid = before?.metadata.uid ?? object.metadata.uid ?? randomUUID()
    return store({
      ...object,
      metadata: { ...object.metadata, uid, generation, creationTimestamp: '2026-01-02T03:04:05Z' },
      ...(status === undefined ? {} : { status }),
    })
  }

  function find(kind: string, namespace: string | undefined, name: string): StoredObject {
    const found = objects.get(keyOf(kind, namespace, name))
    if (found !== undefined) return found
    const what = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
    throw new Failure('ReferenceNotFound', `There is no ${what}; create it, or fix its name in the spec.`)
  }

  function list(kind: Kind, { phase, follows, namespace, except = [], next = '' }: ListQuery): ListPage {
    const selected = [...objects.values()]
      .filter((object) => object.kind === kind)
      .map(envelopeOf)
      .filter(({ status }) => phase === undefined || status?.phase === phase)
      .filter((resource) => follows === undefined || resource.follows !== undefined)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter(({ metadata }) => !except.includes(metadata.namespace))
      .map(listed)
      .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
      .filter((row) => placeOf(row) > next)
    const rows = selected.slice(0, PAGE_SIZE)
    const last = rows.at(-1)
    return { rows, next: last === undefined || last === selected.at(-1) ? undefined : placeOf(last) }
  }

  const cluster: MemoryCluster = {
    apply,
    notices,
    now: () => new Date(),
    get: (kind, namespace, name) => objects.get(keyOf(kind, namespace, name)),
    remove: (kind, namespace, name) => void objects.delete(keyOf(kind, namespace, name)),
    discover: (apiVersion, kind) => Promise.resolve(KINDS[`${apiVersion} ${kind}`]),
    readResource: (ref) => Promise.resolve(objects.get(keyOf(ref.kind, ref.namespace, ref.name))),
    async readObject(ref, served) {
      return JSON.stringify(find(ref.kind, served.namespaced ? ref.namespace : undefined, ref.name))
    },
    reviews,
    mayAccess: () => true,
    async reviewAccess(user, access) {
      reviews.push({ user, access })
      return cluster.mayAccess(user, access)
    },
    knowsRights: () => Promise.resolve(true),
    async readSecret(namespace, name) {
      const secret = find('Secret', namespace, name)
      const data = new Map<string, Uint8Array>()
      for (const [key, value] of Object.entries(secret.data ?? {}))
        data.set(key, Buffer.from(String(value), 'base64'))
      for (const [key, value] of Object.entries(secret.stringData ?? {}))
        data.set(key, Buffer.from(String(value)))
      const annotations = Object(secret.metadata.annotations ?? {})
      const version = versionIn(secret)
      return { namespace, name, type: String(secret.type ?? 'Opaque'), version, annotations, data }
    },
    async readVersion(ref, served) {
      const namespace = served.namespaced ? ref.namespace : undefined
      const found = objects.get(keyOf(ref.kind, namespace, ref.name))
      return found === undefined ? MISSING : versionIn(found)
    },
    async patchStatus(resource: Envelope, status: Status) {
      const stored = objects.get(keyOf(resource.kind, resource.metadata.namespace, resource.metadata.name))
      if (stored?.metadata.resourceVersion !== resource.metadata.resourceVersion) return CONFLICT
      return store({ ...stored, status })
    },
    listPage: async (kind, query) => list(kind, query),
    listUnsettled: async (kind) =>
      [...objects.values()]
        .filter((object) => object.kind === kind)
        .map(envelopeOf)
        .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
        .map(listed),
    async recordEvent(_resource, notice) {
      notices.push(notice)
    },
    flushEvents: () => Promise.resolve(),
  }
  return cluster
}

function versionIn({ metadata }: StoredObject): string {
  return `${String(metadata.uid)}/${String(metadata.resourceVersion)}`
}

/** By which the API server sorts a list. */
function placeOf({ ref }: ListedResource): string {
  return `${ref.namespace}/${ref.name}`
}

function listed(resource: Envelope): ListedResource {
  const { metadata, status } = resource
  return {
    ref: { ...refOf(resource), uid: metadata.uid, generation: metadata.generation },
    deleting: metadata.deletionTimestamp !== undefined,
    requestedAt: metadata.annotations?.[REQUESTED_AT],
    observedGeneration: status?.observedGeneration ?? -1,
    lastHandledRequestedAt: status?.lastHandledRequestedAt,
    nextAttemptTime: status?.nextAttemptTime,
    reason: status?.conditions?.find(({ type }) => type === 'Ready')?.reason,
    weight: 1,
  }
}
