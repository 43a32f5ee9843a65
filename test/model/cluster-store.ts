import type { ApiAnswer, ApiCall } from '../../functions/cluster/api-server.ts'
import { renderManifest } from '../../functions/domain/manifest/manifest.ts'
import { blobName } from '../../functions/git/tree.ts'
import { isRecord, member } from '../../functions/domain/json-value.ts'
import {
  API_VERSION,
  REQUEST_GENERATION,
  REQUESTED_AT,
  REQUESTED_BY,
  REQUESTER,
} from '../../functions/domain/resource/api-names.ts'
import { timeText } from './parts/tokens.ts'

/** The resource, and the objects that it refers to. Never changed. */
export interface Store {
  readonly generation: number
  readonly requests: number
  readonly suspended: boolean
  /** The annotation of the last request was removed. */
  readonly withdrawn?: boolean
  /** The last spec is for content that was there before. */
  readonly isBack?: true
  /** The generation of the last spec, where only `suspend` has changed since. */
  readonly noted?: number
  /** Of the object that each spec refers to, from the first one: what is wanted later has a higher version. */
  readonly versions: readonly number[]
  readonly resourceVersion: number
  readonly status: Readonly<Record<string, unknown>>
}

/** An answer of the API server, and what is stored after it. */
export interface Answered {
  readonly store: Store
  readonly answer: Omit<ApiAnswer, 'date'>
}

export const NAME = { namespace: 'team', name: 'shop', uid: 'u1' } as const

/** The first generation, just created. */
export const CREATED: Store = {
  generation: 1,
  requests: 0,
  suspended: false,
  versions: [1],
  resourceVersion: 1,
  status: { observedGeneration: -1, phase: 'Pending' },
}

/** The version of the content that the user wants at last. */
export function wantedVersion({ versions }: Pick<Store, 'versions'>): number {
  return versions.at(-1) ?? 0
}

/**
 * What the user does: the first spec, another one, a change of the object that it refers to and a request for it, a
 * change of `suspend` alone, the removal of a request, or, at the end, another spec for what the branch holds.
 */
export type Ask = 'create' | 'spec' | 'request' | 'suspend' | 'resume' | 'withdraw' | 'back'

/** What is stored after the user has asked for something. `held`: the version that the branch holds. */
export function asked(store: Store, what: Ask, held: number): Store {
  if (what === 'create') return store
  const resourceVersion = store.resourceVersion + 1
  const { generation, requests, versions } = store
  const next = wantedVersion(store) + 1
  if (what === 'suspend' || what === 'resume') {
    const { noted = generation } = store
    return { ...store, resourceVersion, generation: generation + 1, suspended: what === 'suspend', noted }
  }
  if (what === 'withdraw') return { ...store, resourceVersion, withdrawn: true }
  if (what === 'back') {
    const there = { versions: [...versions.slice(0, -1), held], isBack: true } as const
    return { ...store, resourceVersion, generation: generation + 1, ...there }
  }
  if (what === 'spec') {
    const { status, suspended } = store
    const rest = { status, suspended, requests }
    return { ...rest, resourceVersion, generation: generation + 1, versions: [...versions, next] }
  }
  const changed = [...versions.slice(0, -1), next]
  return { ...store, resourceVersion, requests: requests + 1, withdrawn: false, versions: changed }
}

/** How many requests there were, the last of which stands; 0: none does. */
export function requestsOf({ requests, withdrawn = false }: Store): number {
  return withdrawn ? 0 : requests
}

/** The resource as the API server sends it. */
export function resourceOf(store: Store): unknown {
  const { generation, resourceVersion, status, suspended, noted, versions } = store
  const requests = requestsOf(store)
  return {
    apiVersion: API_VERSION,
    kind: 'GitCommit',
    metadata: {
      ...NAME,
      generation,
      resourceVersion: String(resourceVersion),
      annotations: {
        [REQUESTED_BY]: 'developer',
        [REQUESTER]: '{"username":"developer","groups":["developers"]}',
        ...(requests > 0 ? { [REQUESTED_AT]: `request ${requests}` } : {}),
        ...(noted === undefined ? {} : { [REQUEST_GENERATION]: String(noted) }),
      },
    },
    spec: {
      repository: 'https://git.example.com/acme/config.git',
      branch: 'main',
      message: 'Record the shop settings',
      credentials: { secretName: 'git', tokenKey: 'token' },
      resourceRef: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: `shop-${versions.length}`,
        path: 'shop.yaml',
      },
      ...(suspended ? { suspend: true } : {}),
    },
    status,
  }
}

/** The name in Git of what the object of a spec is committed as. */
export function blobOf(spec: number, version: number): string {
  const path = 'shop.yaml'
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', ...objectName(spec), path }
  return blobName(renderManifest(JSON.stringify(objectOf(spec, version)), reference, path))
}

function objectName(spec: number): { readonly namespace: string; readonly name: string } {
  return { namespace: NAME.namespace, name: `shop-${spec}` }
}

function objectOf(spec: number, version: number): unknown {
  const metadata = objectName(spec)
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { version: String(version) } }
}

/** Carries out one call at once, as the API server does: a write is a compare-and-swap of the resourceVersion. */
export function answered(store: Store, { method, path, body }: ApiCall): Answered {
  if (method === 'PATCH') return patched(store, body)
  if (!path.includes('/configmaps/')) return { store, answer: ok(resourceOf(store)) }
  const spec = Number(path.at(-1))
  return { store, answer: ok(objectOf(spec, store.versions[spec - 1] ?? 0)) }
}

function ok(body: unknown): Answered['answer'] {
  return { status: 200, text: JSON.stringify(body) }
}

function patched(store: Store, body: unknown): Answered {
  const guard = member(member(body, 'metadata'), 'resourceVersion')
  if (guard !== undefined && guard !== String(store.resourceVersion)) {
    const conflict = { kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409 }
    return { store, answer: { status: 409, text: JSON.stringify(conflict) } }
  }
  const merged = merge(store.status, member(body, 'status'))
  const status = isRecord(merged) ? withoutTransitions(merged) : {}
  // A write that changes nothing keeps the resourceVersion.
  const isSame = JSON.stringify(status) === JSON.stringify(store.status)
  const after = isSame ? store : { ...store, status, resourceVersion: store.resourceVersion + 1 }
  return { store: after, answer: ok(resourceOf(after)) }
}

/** RFC 7396, with the fields in the order of their names. */
function merge(before: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const old = isRecord(before) ? before : {}
  const names = [...new Set([...Object.keys(old), ...Object.keys(patch)])].sort()
  const merged = names.map(
    (name) => [name, name in patch ? merge(old[name], patch[name]) : old[name]] as const,
  )
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined))
}

/** Nobody reads these times, and they would tell equal states apart. */
function withoutTransitions(status: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const text = JSON.stringify(status)
  return JSON.parse(
    text.replace(/"lastTransitionTime":"[^"]*"/g, '"lastTransitionTime":"1970-01-01T00:00:00Z"'),
  )
}

/** The API server's time at a second, as text that is shifted with all other times; see tokens.ts. */
export function dateAt(second: number): string {
  return `${timeText(second)}Z`
}
