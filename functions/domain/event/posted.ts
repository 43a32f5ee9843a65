import { readBatch } from './batch.ts'
import type { Headers } from './cloud-event.ts'
import { mediaType, readEvent } from './cloud-event.ts'
import { readEventList } from './event-list.ts'
import type { Posted } from './hint.ts'
import type { Rest } from './json-elements.ts'

const BATCH = 'application/cloudevents-batch+json'
/** Of the events of an ApiServerSource, which Knative sends in binary mode, one after the other for all namespaces. */
const WATCHED = 'dev.knative.apiserver.'

/** Whether the body may be an EventList: it is JSON, and by its headers no CloudEvent. */
export function mayBeEventList(headers: Headers): boolean {
  return mediaType(headers['content-type']) === 'application/json' && headers['ce-specversion'] === undefined
}

/**
 * Reads what was posted: a CloudEvent, a batch of them, or an EventList. Throws InvalidSpec for anything else, and
 * NotSupported for an event format that is not JSON. A list is read in parts; `rest` gives the event loop a turn between
 * them.
 */
export async function readPosted(headers: Headers, body: Uint8Array, rest: Rest): Promise<Posted> {
  if (mediaType(headers['content-type']) === BATCH) return readBatch(body, rest)
  if (mayBeEventList(headers)) return readEventList(body, rest)
  const isWatched = String(headers['ce-type']).startsWith(WATCHED)
  return { form: isWatched ? 'watched' : 'event', hints: readEvent(headers, body), skipped: 0 }
}
