import { LRUCache } from 'lru-cache'
import { Failure } from '../domain/failure.ts'
import { elements, member, textMember } from '../domain/json-value.ts'
import type { Kind } from '../domain/resource/api-names.ts'
import { API_VERSION, PLURALS, REQUESTED_AT } from '../domain/resource/api-names.ts'
import type { ApiAnswer, ApiServer } from './api-server.ts'
import { refusal, selectedOf } from './calls/answer.ts'
import { OF_TABLE } from './calls/selections.ts'
import type { Cluster, ListedResource, ListPage, ListQuery } from './cluster.ts'
import { groupPath } from './discovery.ts'

/** Rows of a page, at most: a row has the printed cells and the metadata, which may have as much as etcd stores. */
const PAGE_SIZE = 50
/** Sorts of lists of which the size of a page is remembered. */
const MOST_REMEMBERED = 3_000
/** Bytes of a page of several rows: to read it takes less than 60 ms. */
const LARGEST_PAGE = 4 * 1024 * 1024
/** Characters of most rows, at most. */
const ROW_LENGTH = 4_096
/** The API server returns any kind as a Table: metadata and the columns of the CRD, not the whole spec. */
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** Status for an expired continue token. */
const GONE = 410
/** Bytes of the list of what is not settled: some 450 rows, fewer than make a namespace a large one (sweep/walk.ts). */
const LARGEST_UNSETTLED = 1024 * 1024
/** Selects those that follow their sources. */
export const FOLLOWERS = 'spec.sync=OnChange'
const UNSETTLED = 'status.phase!=Succeeded,status.phase!=Failed,status.phase!=Suspended'

/**
 * Lists pages of a kind, as Tables, in the order of namespace and name. Where rows are large, there are often more of them: how many
 * a page has is remembered of each sort of list, so that those of one namespace change nothing for another one.
 */
export function pageLists(server: ApiServer): Cluster['listPage'] {
  const sizes = new LRUCache<string, number>({ max: MOST_REMEMBERED })
  return async function listPage(kind, query) {
    const { namespace, phase, follows, first = PAGE_SIZE } = query
    const key = JSON.stringify([kind, namespace, phase, follows])
    for (let limit = sizes.get(key) ?? first; ; limit = Math.ceil(limit / 2)) {
      const page = await readPage(server, kind, { ...query, limit })
      if (page === 'too large') continue
      const fitting = Math.max(1, Math.floor((limit * LARGEST_PAGE) / page.bytes))
      sizes.set(key, Math.min(PAGE_SIZE, limit * 2, fitting))
      return page
    }
  }
}

/**
 * Lists all resources of a kind that are not settled, in one answer from the API server's memory (its watch cache), which
 * may be a little behind; undefined if there are more than a few. Such a list has no pages: the API server ignores a limit.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list
 */
export async function listUnsettled(
  server: ApiServer,
  kind: Kind,
): Promise<readonly ListedResource[] | undefined> {
  const query = new URLSearchParams({ resourceVersion: '0', fieldSelector: UNSETTLED }).toString()
  const path = `${groupPath(API_VERSION)}/${PLURALS[kind]}?${query}`
  try {
    return pageOf(kind, await server({ method: 'GET', path, accept: TABLE, most: LARGEST_UNSETTLED })).rows
  } catch (error) {
    if (error instanceof Failure && error.reason === 'NotSupported') return undefined
    throw error
  }
}

// A page that is too large is read again in halves, so that no resource is missing; one row is read whatever its size.
async function readPage(
  server: ApiServer,
  kind: Kind,
  query: ListQuery & { readonly limit: number },
): Promise<(ListPage & { readonly bytes: number }) | 'too large'> {
  const call = { method: 'GET', path: pathOf(kind, query), accept: TABLE } as const
  try {
    const answer = await server(query.limit > 1 ? { ...call, most: LARGEST_PAGE } : call)
    return { ...pageOf(kind, answer), bytes: answer.text.length }
  } catch (error) {
    if (query.limit > 1 && error instanceof Failure && error.reason === 'NotSupported') return 'too large'
    throw error
  }
}

function pathOf(kind: Kind, query: ListQuery & { readonly limit: number }): string {
  const { phase, follows, namespace, except = [], next, limit } = query
  const excluded = except.map((name) => `metadata.namespace!=${name}`)
  const ofPhase = phase === undefined ? [] : [`status.phase=${phase}`]
  const selector = [...ofPhase, ...(follows === true ? [FOLLOWERS] : []), ...excluded].join(',')
  const parameters = new URLSearchParams({ limit: String(limit) })
  if (selector !== '') parameters.set('fieldSelector', selector)
  if (next !== undefined) parameters.set('continue', next)
  const of = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${groupPath(API_VERSION)}${of}/${PLURALS[kind]}?${parameters.toString()}`
}

function pageOf(kind: Kind, answer: ApiAnswer): ListPage {
  const what = `list of ${PLURALS[kind]}`
  if (answer.status === GONE) return expiredPage(answer, what)
  const table = selectedOf(answer, what, OF_TABLE)
  const rows = rowsOf(kind, table, columnsOf(table))
  return { rows, next: continueOf(table) }
}

/** The names of the columns of a Table; none where an event of a watch repeats those of the first one. */
export function columnsOf(table: unknown): Columns {
  return elements(member(table, 'columnDefinitions')).map((column) => textMember(column, 'name'))
}

export type Columns = readonly (string | undefined)[]

/** The resources of a Table, as it is read by OF_TABLE, with these columns. */
export function rowsOf(kind: Kind, table: unknown, columns: Columns): readonly ListedResource[] {
  const rows = elements(member(table, 'rows')).map((row) => readRow(kind, columns, row))
  return rows.filter((row) => row !== undefined)
}

/**
 * After some minutes a continue token expires. The response then has another one, with which the list goes on from the
 * same place as of now: https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
function expiredPage(answer: ApiAnswer, what: string): ListPage {
  const next = continueOf(selectedOf({ ...answer, status: 200 }, what, OF_TABLE))
  if (next === undefined) throw refusal(answer, what)
  return { rows: [], next }
}

function continueOf(list: unknown): string | undefined {
  return textMember(member(list, 'metadata'), 'continue') || undefined
}

function readRow(kind: Kind, columns: Columns, measured: unknown): ListedResource | undefined {
  const row = member(measured, 'selected')
  const length = member(measured, 'length')
  const cells = elements(member(row, 'cells'))
  const cell = (name: string): unknown => cells[columns.indexOf(name)]
  const metadata = member(member(row, 'object'), 'metadata')
  const [name, namespace, uid] = ['name', 'namespace', 'uid'].map((key) => textMember(metadata, key))
  const generation = member(metadata, 'generation')
  if (name === undefined || namespace === undefined || uid === undefined) return undefined
  if (typeof generation !== 'number' || typeof length !== 'number') return undefined
  const observed = cell('Observed')
  return {
    ref: { kind, namespace, name, uid, generation },
    deleting: member(metadata, 'deletionTimestamp') !== undefined,
    requestedAt: textMember(member(metadata, 'annotations'), REQUESTED_AT) || undefined,
    observedGeneration: typeof observed === 'number' ? observed : -1,
    lastHandledRequestedAt: asText(cell('Handled')),
    nextAttemptTime: asText(cell('Next attempt')),
    reason: asText(cell('Reason')),
    interval: asText(cell('Interval')),
    weight: Math.ceil(length / ROW_LENGTH),
  }
}

/** A cell's text; undefined if it has no value, which the API server prints as null or as an empty cell. */
function asText(cell: unknown): string | undefined {
  return typeof cell === 'string' && cell !== '' ? cell : undefined
}
