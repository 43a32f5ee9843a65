import { shareReviews } from '../../../webhook/admission/review-share.ts'
import { shareThread } from '../../../webhook/admission/thread-turns.ts'
import type { Admission } from '../../../webhook/admission/admission.ts'
import type { AdmissionRequest } from '../../../webhook/admission/review.ts'
import { readReview } from '../../../webhook/admission/review.ts'
import type { MemoryCluster } from '../../harness/memory-cluster.ts'
import { memoryCluster } from '../../harness/memory-cluster.ts'
import { recordingLog, reviewOf } from '../stage.ts'

export const BY = 'commitlet.dev/requested-by'
export const REQUESTER = 'commitlet.dev/requester'

/** A cluster with the named Secret; everyone may do everything until a test changes it. */
export function clusterWith(annotations: Readonly<Record<string, string>> = {}): MemoryCluster {
  const cluster = memoryCluster()
  cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'git', namespace: 'shop', annotations },
    stringData: { token: 's3cr3t-token' },
  })
  return cluster
}

interface Changes {
  readonly cluster?: Partial<Admission['cluster']>
  readonly settings?: Partial<Admission['settings']>
  readonly extra?: readonly string[]
  readonly log?: Admission['log']
  readonly deadlines?: { readonly decideMs: number; readonly lookMs: number }
}

/** Admission over that cluster, with the changes of a test. */
export function admissionOver({ cluster, settings, extra, log, deadlines }: Changes = {}): Admission {
  return {
    cluster: { ...clusterWith(), ...cluster },
    settings: {
      referenceScope: 'namespace',
      allowedRepositories: undefined,
      insecureHosts: [],
      delegation: { appliers: [], account: 'commitlet' },
      stampKey: undefined,
      ...settings,
    },
    // Of namespaces whose reviews are known to be quick.
    reviewShare: shareReviews((_owner, { inTurn, call }) => inTurn(call)),
    inTurn: shareThread(() => performance.now()),
    requesterExtra: extra ?? [],
    log: log ?? recordingLog().log,
    ...(deadlines === undefined ? {} : { deadlines }),
  }
}

/** The request of a creation. */
export function created(object: unknown, request = {}): AdmissionRequest {
  return readReview(reviewOf(object, request))
}

/** The request of an update. */
export function updated(oldObject: unknown, object: unknown, request = {}): AdmissionRequest {
  return readReview(reviewOf(object, { operation: 'UPDATE', oldObject, ...request }))
}

/** A call that is never answered. */
export function hanging(): Promise<never> {
  return new Promise(() => undefined)
}
