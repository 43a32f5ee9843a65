import { randomUUID, type KeyObject } from 'node:crypto'
import { stampFor } from '../../functions/domain/requester/stamp.ts'
import { gitCommit } from '../../test/harness/installation.ts'

const NAMESPACE = 'shop'
const SERVICE = 'system:serviceaccount:shop:delivery'
const USER = {
  username: SERVICE,
  uid: '4d1c5a5e-0f0b-4f0e-9a53-2f9f3d1c7b11',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/credential-id': ['JTI=6a8f1c1e-3f0d-4f6b-8f2e-0c9d7e1f2a3b'] },
}

/** The webhook's path, and the names in the review. */
export interface Subject {
  readonly path: '/mutate' | '/validate'
  /** Part of the names of the referenced object and the Secret. A new name is not cached and needs a new review. */
  readonly name: string
  readonly stampKey: KeyObject
}

/** The body of an AdmissionReview for the creation of a GitCommit, as an API server sends it; stamped for /validate. */
export function reviewBody({ path, name, stampKey }: Subject): string {
  const bare = created(name)
  const object = path === '/mutate' ? bare : withStamp(bare, stampKey)
  const group = 'commitlet.dev'
  const kind = { group, version: 'v1', kind: 'GitCommit' }
  const resource = { group, version: 'v1', resource: 'gitcommits' }
  const request = {
    uid: randomUUID(),
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name: `record-${name}`,
    namespace: NAMESPACE,
    operation: 'CREATE',
    userInfo: USER,
    object,
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'delivery' },
  }
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request })
}

interface Created {
  readonly metadata: object
}

function created(name: string): Created {
  const time = '2026-03-01T10:00:00Z'
  const fieldsV1 = {
    'f:spec': { '.': {}, 'f:credentials': {}, 'f:message': {}, 'f:repository': {}, 'f:resourceRef': {} },
  }
  const manager = { manager: 'delivery', operation: 'Update', apiVersion: 'commitlet.dev/v1', time }
  const resource = gitCommit(`record-${name}`, 'https://git.example.com/acme/shop.git', {
    credentials: { secretName: `git-${name}`, tokenKey: 'token' },
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: `shop-${name}`, path: 'shop/settings.yaml' },
  })
  return {
    ...resource,
    status: { observedGeneration: -1, phase: 'Pending' },
    metadata: {
      name: `record-${name}`,
      namespace: NAMESPACE,
      uid: randomUUID(),
      creationTimestamp: time,
      generation: 1,
      managedFields: [{ ...manager, fieldsType: 'FieldsV1', fieldsV1 }],
    },
  } as Created
}

function withStamp(after: Created, key: KeyObject): Created {
  const delegation = { appliers: [], account: 'commitlet' }
  const stamping = { user: USER, extraKeys: [], delegation, key, now: new Date() }
  const annotations = stampFor({ before: undefined, after, namespace: NAMESPACE }, stamping)
  return { ...after, metadata: { ...after.metadata, annotations } }
}
