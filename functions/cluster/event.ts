import { createHash } from 'node:crypto'
import type { Envelope } from '../domain/resource/resource.ts'
import { API_VERSION } from '../domain/resource/resource.ts'
import type { ApiServer } from './api-server.ts'
import type { ClusterEvent } from './cluster.ts'

/** events.k8s.io allows a note of 1 KiB: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
const LONGEST_NOTE_BYTES = 1024

/**
 * Records an Event of events.k8s.io/v1 about the resource, for `kubectl describe`. Where the API server does not accept
 * it, nothing is thrown and the attempt goes on. Its name is the same for the same resource, generation, reason and
 * attempt, so that a repeated write is the same Event.
 */
export async function recordEvent(
  server: ApiServer,
  resource: Envelope,
  { type, reason, message }: ClusterEvent,
  at: Date,
): Promise<void> {
  const { namespace, name, uid, generation, resourceVersion } = resource.metadata
  const attempt = resource.status?.attempts ?? 0
  const identity = [uid, generation, reason, attempt, resource.status?.lastHandledRequestedAt ?? ''].join('/')
  const suffix = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // A name that is cut has to end with a letter or a digit, too.
    metadata: { name: `${name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${suffix}`, namespace },
    eventTime: at.toISOString().replace('Z', '000Z'),
    reportingController: 'commitlet.dev/function',
    reportingInstance: 'commitlet',
    action: 'Reconcile',
    reason,
    type,
    note: noteOf(message),
    regarding: { apiVersion: API_VERSION, kind: resource.kind, namespace, name, uid, resourceVersion },
  }
  const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`
  await server({ method: 'POST', path, body: event }).catch(() => undefined)
}

function noteOf(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= LONGEST_NOTE_BYTES) return message
  const ellipsis = '…'
  const start = bytes.subarray(0, LONGEST_NOTE_BYTES - Buffer.byteLength(ellipsis))
  // A character that was cut in the middle is left out.
  return new TextDecoder().decode(start, { stream: true }) + ellipsis
}
