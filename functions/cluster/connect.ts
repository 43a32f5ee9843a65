import type { ServedKind } from '../domain/gate/access.ts'
import { refOf } from '../domain/resource/envelope.ts'
import type { Envelope, ObjectRef } from '../domain/resource/resource.ts'
import type { Status } from '../domain/resource/stored-status.ts'
import { API_VERSION, PLURALS } from '../domain/resource/api-names.ts'
import { Failure } from '../domain/failure.ts'
import type { ApiServer } from './api-server.ts'
import { LARGEST_METADATA, METADATA, refusal, selectedOf, UNREAD_VERSION, versionIn } from './calls/answer.ts'
import { takeTurnsToParse } from './calls/large-answers.ts'
import { OF_RESOURCE } from './calls/selections.ts'
import { accessReviews } from './access-review.ts'
import type { Cluster, NamedObject } from './cluster.ts'
import { CONFLICT } from './cluster.ts'
import { discovery, objectPath } from './discovery.ts'
import { listUnsettled, pageLists } from './list.ts'
import { openEventQueue } from './event-queue.ts'
import { shareLargeReads } from './calls/large-reads.ts'
import { REST_CLOCK, type RestClock } from './calls/rest.ts'
import { shareLargeWrites } from './calls/large-writes.ts'
import { shareReads } from './object-reads.ts'
import { shareSecretReads } from './secret-reads.ts'
import { followServerClock } from './server-clock.ts'
import { isTooLargeToStore, statusPatch, withoutRoom } from './status-patch.ts'

/** After a review that could not be decided, denials are not final for so long. */
const UNDECIDED_MS = 5_000

/** Implements the port Cluster with a real API server. The clock of the machine may be set back, and this one not. */
export function connectCluster(apiServer: ApiServer, clock: RestClock = REST_CLOCK): Cluster {
  const { elapsed } = clock
  const { server, now } = followServerClock(apiServer, elapsed)
  const discover = discovery(server, elapsed, clock.wait)
  const largeReads = shareLargeReads(server, clock)
  const serverFor = shareReads(server, largeReads, elapsed)
  const forParsing = takeTurnsToParse()
  const large = shareLargeWrites(clock)
  let undecidedAt = -Infinity
  const undecided = (): void => void (undecidedAt = elapsed())
  /** Calls about one resource. */
  const calling = (ref: ObjectRef): ApiServer => {
    const inShare = largeReads(ref)
    return async function call(request) {
      const answer = await inShare(request)
      if (answer.status === 200) large.saw(ref, answer.text.length)
      return forParsing(answer)
    }
  }
  return {
    now,
    discover,
    readResource: (ref) => readResource(calling(ref), ref),
    readObject: (ref, served, by) => readObject(serverFor(by), ref, served, by?.most),
    readSecret: shareSecretReads(server, largeReads, elapsed),
    readVersion: (ref, served, by) => readVersion(serverFor(by), ref, served),
    reviewAccess: accessReviews(server, elapsed, { undecided }),
    knowsRights: async () => (await isReady(server)) && elapsed() - undecidedAt > UNDECIDED_MS,
    patchStatus(resource, status) {
      const ref = refOf(resource)
      return large.write(ref, () => patchStatus(calling(ref), resource, status))
    },
    listPage: pageLists(server),
    listUnsettled: (kind) => listUnsettled(server, kind),
    ...openEventQueue(server, elapsed),
  }
}

async function readResource(server: ApiServer, ref: ObjectRef): Promise<unknown> {
  const answer = await server({ method: 'GET', path: objectPath(API_VERSION, PLURALS[ref.kind], ref) })
  if (answer.status === 404) return undefined
  return selectedOf(answer, `${ref.kind} ${ref.namespace}/${ref.name}`, OF_RESOURCE)
}

async function readObject(
  server: ApiServer,
  ref: NamedObject,
  served: ServedKind,
  most: number | undefined,
): Promise<string> {
  const namespace = served.namespaced ? ref.namespace : undefined
  const what = `${ref.kind} ${namespace === undefined ? '' : `${namespace}/`}${ref.name}`
  const path = objectPath(ref.apiVersion, served.plural, { namespace, name: ref.name })
  const answer = await server({ method: 'GET', path, ...(most === undefined ? {} : { most }) })
  if (answer.status !== 200) throw refusal(answer, what)
  return answer.text
}

async function readVersion(server: ApiServer, ref: NamedObject, served: ServedKind): Promise<string> {
  const namespace = served.namespaced ? ref.namespace : undefined
  const path = objectPath(ref.apiVersion, served.plural, { namespace, name: ref.name })
  try {
    const answer = await server({ method: 'GET', path, accept: METADATA, most: LARGEST_METADATA })
    return versionIn(answer, `${ref.kind} ${ref.name}`)
  } catch (error) {
    // The answer is too large.
    if (error instanceof Failure && error.reason === 'NotSupported') return UNREAD_VERSION
    throw error
  }
}

/** Everybody may ask: https://kubernetes.io/docs/reference/using-api/health-checks/. Where that is forbidden, nothing is known. */
async function isReady(server: ApiServer): Promise<boolean> {
  const answer = await server({ method: 'GET', path: '/readyz' }).catch(() => undefined)
  return answer !== undefined && answer.status < 500
}

async function patchStatus(server: ApiServer, resource: Envelope, status: Status): Promise<unknown> {
  const { namespace, name, resourceVersion, uid } = resource.metadata
  const path = objectPath(API_VERSION, PLURALS[resource.kind], { namespace, name })
  const answer = await server({
    method: 'PATCH',
    path: `${path}/status?fieldManager=commitlet`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { resourceVersion, uid }, status: statusPatch(resource, status) },
  })
  if (answer.status === 409 || answer.status === 404) return CONFLICT
  if (isTooLargeToStore(answer)) throw withoutRoom(resource)
  return selectedOf(answer, `status of ${resource.kind} ${namespace}/${name}`, OF_RESOURCE)
}
