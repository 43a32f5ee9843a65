import { member, textMember } from '../../domain/json-value.ts'
import type { Kind } from '../../domain/resource/api-names.ts'
import { KINDS, PLURALS } from '../../domain/resource/api-names.ts'
import { selectedOf } from '../calls/answer.ts'
import { OF_VERSION } from '../calls/selections.ts'
import type { ApiServer } from '../api-server.ts'
import type { ListedResource } from '../cluster.ts'
import { TABLE } from '../list.ts'
import { isDue } from './due.ts'
import { listPath, watchRows, type WatchParts } from './watch.ts'

/** What has changed since a time, as watches of both kinds tell it. */
export interface Changes {
  /**
   * Follows all changes from now on, until `signal` fires. Whether this was begun now: false if they are followed already. Throws
   * the Failure of a call.
   */
  readonly begin: (signal: AbortSignal) => Promise<boolean>
  /** Whether no change was missed since then. */
  readonly isFollowed: () => boolean
  /** The resources that a full sweep would find due, and that are known for some seconds: their events had time. */
  readonly due: () => readonly ListedResource[]
}

/** As many as events may wait in the sink: with more, lists are the better way. */
const MOST_DUE = 10_000
/** An event normally starts an attempt within this time. */
const GRACE_MS = 5_000

interface Change {
  readonly row: ListedResource
  readonly since: number
}

/**
 * Watches both kinds, so that what has changed is known without a list of everything. Of the objects, only the names of those
 * that are due are kept. Where a change may have been missed, changes are no longer followed.
 */
export function followChanges(parts: WatchParts): Changes {
  const { server, log, elapsed } = parts
  const due = new Map<string, Change>()
  let following: AbortController | undefined
  let hasWarned = false

  async function begin(signal: AbortSignal): Promise<boolean> {
    if (isFollowed()) return false
    const versions = await Promise.all(KINDS.map((kind) => versionOf(server, kind)))
    due.clear()
    const current = new AbortController()
    following = current
    signal.addEventListener('abort', () => current.abort(), { once: true, signal: current.signal })
    // It may have fired during the calls.
    if (signal.aborted) current.abort()
    const isFull = (): boolean => due.size > MOST_DUE
    KINDS.forEach((kind, index) => {
      const version = versions[index] ?? ''
      void watchRows(parts, { kind, version, keep, isFull, forbidden }, current)
    })
    return true
  }

  function isFollowed(): boolean {
    return following !== undefined && !following.signal.aborted
  }

  function forbidden(): void {
    if (!hasWarned) log.warn('no right to watch: each full sweep lists all resources')
    hasWarned = true
  }

  function keep(row: ListedResource, isDeleted: boolean): void {
    const { kind, namespace, name } = row.ref
    const key = `${kind}/${namespace}/${name}`
    if (isDeleted || !isDue(row, 'full', 0)) due.delete(key)
    else due.set(key, { row: shortened(row), since: due.get(key)?.since ?? elapsed() })
  }

  return {
    begin,
    isFollowed,
    due() {
      const known = [...due.values()].filter(({ since }) => elapsed() - since >= GRACE_MS)
      return known.map(({ row }) => row)
    },
  }
}

/** What users write may be long, and is not needed: only whether a request is new. */
function shortened(row: ListedResource): ListedResource {
  const isRequested = row.requestedAt !== undefined && row.requestedAt !== row.lastHandledRequestedAt
  const requestedAt = isRequested ? 'later' : undefined
  return {
    ...row,
    requestedAt,
    lastHandledRequestedAt: undefined,
    nextAttemptTime: undefined,
    reason: undefined,
  }
}

async function versionOf(server: ApiServer, kind: Kind): Promise<string> {
  const what = `list of ${PLURALS[kind]}`
  const answer = await server({ method: 'GET', path: `${listPath(kind)}?limit=1`, accept: TABLE })
  return textMember(member(selectedOf(answer, what, OF_VERSION), 'metadata'), 'resourceVersion') ?? ''
}
