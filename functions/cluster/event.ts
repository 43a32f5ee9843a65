import { createHash } from 'node:crypto'
import type { Envelope } from '../domain/resource/resource.ts'
import { API_VERSION } from '../domain/resource/resource.ts'
import type { ApiServer } from './api-server.ts'
import type { ClusterEvent } from './cluster.ts'

/** events.k8s.io allows a note of 1 KiB: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
const LONGEST_NOTE_BYTES = 1024

/**
 * Records an Event of events.k8s.io/v1 about the resource, for `kubectl describe`. An Event is a courtesy: where
 * the API server does not take it, the attempt goes on. One name for each resource, generation, reason and
 * attempt, so that a repeated write is the same Event.
 */
export async function recordEvent(
  server: ApiServer,
  resource: Envelope,
  told: ClusterEvent,
  at: Date,
): Promise<void> {
  const { namespace, name, uid, generation, resourceVersion } = resource.metadata
  const attempt = resource.status?.attempts ?? 0
  const identity = [
    uid,
    generation,
    told.reason,
    attempt,
    resource.status?.lastHandledRequestedAt ?? '',
  ].join('/')
  const suffix = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // What is left of a long name has to end as a name does.
    metadata: { name: `${name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${suffix}`, namespace },
    eventTime: at.toISOString().replace('Z', '000Z'),
    reportingController: 'commitlet.dev/function',
    reportingInstance: 'commitlet',
    action: 'Reconcile',
    reason: told.reason,
    type: told.type,
    note: noteOf(told.message),
    regarding: { apiVersion: API_VERSION, kind: resource.kind, namespace, name, uid, resourceVersion },
  }
  const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`
  await server({ method: 'POST', path, body: event }).catch(() => undefined)
}

function noteOf(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= LONGEST_NOTE_BYTES) return message
  const ellipsis = '…'
  const kept = bytes.subarray(0, LONGEST_NOTE_BYTES - Buffer.byteLength(ellipsis))
  // A character that was cut in the middle is left out.
  return new TextDecoder().decode(kept, { stream: true }) + ellipsis
}
