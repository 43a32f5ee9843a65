import { createHash } from 'node:crypto'
import type { Envelope } from '../domain/resource/resource.ts'
import { API_VERSION } from '../domain/resource/api-names.ts'
import type { ApiCall } from './api-server.ts'
import type { ClusterEvent } from './cluster.ts'

/** events.k8s.io allows a note of 1 KiB: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
const LONGEST_NOTE_BYTES = 1024

/**
 * The call that creates an Event of events.k8s.io/v1 about the resource, for `kubectl describe`. The same resource,
 * generation, reason and attempt result in the same name, so that a repeated write does not create a second Event.
 */
export function eventCall(resource: Envelope, { type, reason, message }: ClusterEvent, at: Date): ApiCall {
  const { namespace, name, uid, generation, resourceVersion } = resource.metadata
  const attempt = resource.status?.attempts ?? 0
  const identity = [uid, generation, reason, attempt, resource.status?.lastHandledRequestedAt ?? ''].join('/')
  const suffix = createHash('sha256').update(identity).digest('hex').slice(0, 16)
  const event = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // A truncated name must also end with a letter or a digit.
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
  return { method: 'POST', path, body: event }
}

function noteOf(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= LONGEST_NOTE_BYTES) return message
  const ellipsis = '…'
  const start = bytes.subarray(0, LONGEST_NOTE_BYTES - Buffer.byteLength(ellipsis))
  // Streaming mode drops a character that was cut in the middle.
  return new TextDecoder().decode(start, { stream: true }) + ellipsis
}
