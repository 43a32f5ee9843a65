import { Failure } from '../failure.ts'
import { member } from '../json-value.ts'
import { readAuditEvent } from './audit-event.ts'
import type { Hint, Posted } from './hint.ts'
import type { Rest } from './json-elements.ts'
import { readList } from './json-elements.ts'

const API_VERSION = 'audit.k8s.io/v1'

/**
 * Reads an EventList, as the audit webhook of an API server posts it:
 * https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/#webhook-backend. An event that is too large to be read is
 * skipped, because the API server would send the whole list again. Throws InvalidSpec for anything else.
 */
export async function readEventList(body: Uint8Array, rest: Rest): Promise<Posted> {
  const { around, elements } = await readList(body, 'items', rest)
  if (member(around, 'kind') !== 'EventList' || member(around, 'apiVersion') !== API_VERSION) {
    throw new Failure('InvalidSpec', `This is not a CloudEvent, and not an EventList of ${API_VERSION}.`)
  }
  const hints: Hint[] = []
  let skipped = 0
  for await (const event of elements) {
    if (event === undefined) skipped += 1
    else hints.push(...readAuditEvent(event))
  }
  return { form: 'list', hints, skipped }
}
