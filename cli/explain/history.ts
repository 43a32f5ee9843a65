import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { bodyOf } from '../../functions/cluster/calls/answer.ts'
import { elements, member, textMember } from '../../functions/domain/json-value.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'

/** An Event about the resource. */
export interface Happening {
  /** RFC 3339. */
  readonly time: string
  readonly type: string
  readonly reason: string
  readonly message: string
}

/** Events of the last hour, as clusters keep them, are rarely more. */
const MOST = 100

/**
 * The Events about this resource, oldest first; undefined where you may not list them.
 * @throws Failure what the API server answers
 */
export async function readHistory(
  server: ApiServer,
  { kind, metadata }: Pick<Envelope, 'kind' | 'metadata'>,
): Promise<readonly Happening[] | undefined> {
  const { namespace, name, uid } = metadata
  const fields = `involvedObject.kind=${kind},involvedObject.name=${name},involvedObject.uid=${uid}`
  const query = new URLSearchParams({ fieldSelector: fields, limit: String(MOST) })
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?${query.toString()}`
  const answer = await server({ method: 'GET', path })
  if (answer.status === 403) return undefined
  const found = elements(member(bodyOf(answer, 'Events'), 'items')).map(readEvent)
  return found.toSorted((one, other) => one.time.localeCompare(other.time))
}

function readEvent(event: unknown): Happening {
  const created = textMember(member(event, 'metadata'), 'creationTimestamp')
  const times = [textMember(event, 'lastTimestamp'), textMember(event, 'eventTime'), created]
  return {
    time: times.find((time) => time !== undefined) ?? '',
    type: textMember(event, 'type') ?? '',
    reason: textMember(event, 'reason') ?? '',
    message: textMember(event, 'message') ?? '',
  }
}
