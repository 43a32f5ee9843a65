import { Failure } from '../domain/failure.ts'
import { elements, member, textMember } from '../domain/json-value.ts'
import type { Kind } from '../domain/resource/resource.ts'
import { API_VERSION, PLURALS, REQUESTED_AT } from '../domain/resource/resource.ts'
import type { ApiAnswer, ApiServer } from './api-server.ts'
import { bodyOf, refusal } from './answer.ts'
import type { ListedResource, ListPage, ListQuery } from './cluster.ts'
import { groupPath } from './discovery.ts'

/** Rows of a page: a row has the printed cells and the metadata, whose annotations have 256 KiB at most. */
const PAGE_SIZE = 50
/** Characters of most rows, at most. */
const ROW_LENGTH = 4_096
/** The API server returns any kind as a Table: metadata and the columns of the CRD, never the spec. */
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** Status for an expired continue token. */
const GONE = 410

/** Lists one page of a kind, as a Table, in the order of namespace and name. */
export async function listPage(server: ApiServer, kind: Kind, query: ListQuery): Promise<ListPage> {
  for (let limit = PAGE_SIZE; ; limit = Math.ceil(limit / 2)) {
    const page = await readPage(server, kind, { ...query, limit })
    if (page !== 'too large') return page
  }
}

// Annotations may have 256 KiB: a page that is too large is read again in halves, so that no resource is missing.
async function readPage(
  server: ApiServer,
  kind: Kind,
  query: ListQuery & { readonly limit: number },
): Promise<ListPage | 'too large'> {
  try {
    return pageOf(kind, await server({ method: 'GET', path: pathOf(kind, query), accept: TABLE }))
  } catch (error) {
    if (query.limit > 1 && error instanceof Failure && error.reason === 'NotSupported') return 'too large'
    throw error
  }
}

function pathOf(kind: Kind, query: ListQuery & { readonly limit: number }): string {
  const { phase, namespace, except = [], next, limit } = query
  const excluded = except.map((name) => `metadata.namespace!=${name}`)
  const selector = [...(phase === undefined ? [] : [`status.phase=${phase}`]), ...excluded].join(',')
  const parameters = new URLSearchParams({ limit: String(limit) })
  if (selector !== '') parameters.set('fieldSelector', selector)
  if (next !== undefined) parameters.set('continue', next)
  const of = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${groupPath(API_VERSION)}${of}/${PLURALS[kind]}?${parameters.toString()}`
}

function pageOf(kind: Kind, answer: ApiAnswer): ListPage {
  const what = `list of ${PLURALS[kind]}`
  if (answer.status === GONE) return expiredPage(answer, what)
  const table = bodyOf(answer, what)
  const columns = elements(member(table, 'columnDefinitions')).map((column) => textMember(column, 'name'))
  const rows = elements(member(table, 'rows')).map((row) => readRow(kind, columns, row))
  return { rows: rows.filter((row) => row !== undefined), next: continueOf(table) }
}

/**
 * After some minutes a continue token expires. The response then has another one, with which the list goes on from the
 * same place as of now: https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
function expiredPage(answer: ApiAnswer, what: string): ListPage {
  const next = continueOf(bodyOf({ ...answer, status: 200 }, what))
  if (next === undefined) throw refusal(answer, what)
  return { rows: [], next }
}

function continueOf(list: unknown): string | undefined {
  return textMember(member(list, 'metadata'), 'continue') || undefined
}

function readRow(
  kind: Kind,
  columns: readonly (string | undefined)[],
  row: unknown,
): ListedResource | undefined {
  const cells = elements(member(row, 'cells'))
  const cell = (name: string): unknown => cells[columns.indexOf(name)]
  const metadata = member(member(row, 'object'), 'metadata')
  const [name, namespace, uid] = ['name', 'namespace', 'uid'].map((key) => textMember(metadata, key))
  const generation = member(metadata, 'generation')
  if (name === undefined || namespace === undefined || uid === undefined) return undefined
  if (typeof generation !== 'number') return undefined
  const observed = cell('Observed')
  return {
    ref: { kind, namespace, name, uid, generation },
    deleting: member(metadata, 'deletionTimestamp') !== undefined,
    requestedAt: textMember(member(metadata, 'annotations'), REQUESTED_AT) || undefined,
    observedGeneration: typeof observed === 'number' ? observed : -1,
    lastHandledRequestedAt: asText(cell('Handled')),
    nextAttemptTime: asText(cell('Next attempt')),
    reason: asText(cell('Reason')),
    weight: Math.ceil(JSON.stringify(row).length / ROW_LENGTH),
  }
}

/** A cell's text; undefined if it has no value, which the API server prints as null or as an empty cell. */
function asText(cell: unknown): string | undefined {
  return typeof cell === 'string' && cell !== '' ? cell : undefined
}
