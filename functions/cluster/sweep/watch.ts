import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Failure } from '../../domain/failure.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { Kind } from '../../domain/resource/api-names.ts'
import { API_VERSION, PLURALS } from '../../domain/resource/api-names.ts'
import { orUndefined } from '../../domain/settings.ts'
import { parseSelected } from '../calls/json-selection.ts'
import { OF_TABLE } from '../calls/selections.ts'
import type { ApiServer } from '../api-server.ts'
import type { ListedResource } from '../cluster.ts'
import { groupPath } from '../discovery.ts'
import type { Columns } from '../list.ts'
import { columnsOf, rowsOf, TABLE } from '../list.ts'

/** What watches use. `elapsed`: milliseconds of a clock that is never set. */
export interface WatchParts {
  readonly server: ApiServer
  readonly log: Logger
  readonly elapsed: () => number
}

/** What is watched. */
export interface Watched {
  readonly kind: Kind
  /** The changes after this resourceVersion; empty: what there is, and all changes after it. */
  readonly version: string
  readonly fieldSelector?: string
  /** Told of each resource; `isDeleted`: it is gone, or the selector does not select it any more. */
  readonly keep: (row: ListedResource, isDeleted: boolean) => void
  /** Whether more are kept than is sensible. */
  readonly isFull: () => boolean
  /** Told that the right to watch is missing. */
  readonly forbidden: () => void
}

const OF_EVENT = { members: { type: 'whole', object: OF_TABLE } } as const
/** How long the API server keeps a watch open. */
const WATCH_S = 300
/** A connection that has not ended by then is dead. */
const OVERTIME_MS = 15_000
/** After this time without a line or an end, a list of everything is due. A watch may be silent until its end. */
const PATIENCE_MS = WATCH_S * 1000 + 60_000
const RETRY_MS = 500

/** Where a watch is. `columns`: of its first event, which the others do not repeat. */
interface WatchState {
  version: string
  columns: Columns
}

/**
 * Watches until `current` is aborted, and aborts it when a change may have been missed. A watch that ends goes on where it was
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes). Never rejects.
 */
export async function watchRows(
  { server, elapsed }: Pick<WatchParts, 'server' | 'elapsed'>,
  watched: Watched,
  current: AbortController,
): Promise<void> {
  const { signal } = current
  const state: WatchState = { version: watched.version, columns: [] }
  let heardAt = elapsed()
  const take = (line: string): void => {
    heardAt = elapsed()
    if (!signal.aborted && !read(watched, state, line)) current.abort()
  }
  while (!signal.aborted && elapsed() - heardAt < PATIENCE_MS) {
    const path = pathOf(watched, state.version)
    const forMs = Math.min(WATCH_S * 1000 + OVERTIME_MS, PATIENCE_MS - (elapsed() - heardAt))
    const lines = { take, forMs, signal }
    const outcome = await server({ method: 'GET', path, accept: TABLE, lines }).catch(asError)
    if (outcome instanceof Error ? isTooLong(outcome) : !isPassing(watched, outcome.status)) break
    if (!(outcome instanceof Error) && outcome.status === 200) heardAt = elapsed()
    const wait = RETRY_MS * (1 + Math.random())
    await pause(wait, undefined, { signal, ref: false }).catch(() => undefined)
  }
  current.abort()
}

/** The path of the list of all resources of a kind. */
export function listPath(kind: Kind): string {
  return `${groupPath(API_VERSION)}/${PLURALS[kind]}`
}

/** Whether the answer to a watch may be another one soon. */
function isPassing({ forbidden }: Watched, status: number): boolean {
  if (status === 403) forbidden()
  return status === 200 || status === 429 || status >= 500
}

/** False if it is not a change: the API server does not remember the version, or there are too many. */
function read({ kind, keep, isFull }: Watched, state: WatchState, line: string): boolean {
  const event = orUndefined(() => parseSelected(line, OF_EVENT))
  const type = textMember(event, 'type')
  const table = member(event, 'object')
  const version = textMember(member(table, 'metadata'), 'resourceVersion')
  if (type === undefined || type === 'ERROR' || version === undefined) return false
  const named = columnsOf(table)
  if (named.length > 0) state.columns = named
  state.version = version
  if (type === 'BOOKMARK') return true
  for (const row of rowsOf(kind, table, state.columns)) keep(row, type === 'DELETED')
  return state.columns.length > 0 && !isFull()
}

function pathOf({ kind, fieldSelector }: Watched, version: string): string {
  const query = new URLSearchParams({
    watch: '1',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(WATCH_S),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(version === '' ? {} : { resourceVersion: version }),
  })
  return `${listPath(kind)}?${query.toString()}`
}

function isTooLong(error: Error): boolean {
  return error instanceof Failure && error.reason === 'NotSupported'
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The watch failed.')
}
