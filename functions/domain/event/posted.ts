import { readBatch } from './batch.ts'
import type { Headers } from './cloud-event.ts'
import { mediaType, readEvent } from './cloud-event.ts'
import { readEventList } from './event-list.ts'
import type { Posted } from './hint.ts'
import type { Rest } from './json-elements.ts'

const BATCH = 'application/cloudevents-batch+json'

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
  return { form: 'event', hints: readEvent(headers, body), skipped: 0 }
}
