import { Failure } from '../domain/failure.ts'
import { elements, member, textMember } from '../domain/json-value.ts'
import type { Kind } from '../domain/resource/resource.ts'
import { API_VERSION, PLURALS, REQUESTED_AT } from '../domain/resource/resource.ts'
import type { ApiAnswer, ApiServer } from './api-server.ts'
import { bodyOf } from './answer.ts'
import type { ListedResource } from './cluster.ts'
import { groupPath } from './discovery.ts'

/** Rows of a page: a row has the metadata and the printed cells, usually 2 KiB, at most 260 KiB. */
const PAGE_SIZE = 50
/** The API server returns any kind as a Table: metadata and the columns of the CRD, never the spec. */
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** Status for an expired continue token: the next sweep lists the rest. */
const GONE = 410

/** Lists a kind in pages, as a Table. With `phases`, only resources in these phases, one list for each phase. */
export async function* listResources(
  server: ApiServer,
  kind: Kind,
  phases?: readonly string[],
): AsyncIterable<ListedResource> {
  const selectors = phases?.map((phase) => `status.phase=${phase}`) ?? [undefined]
  for (const selector of selectors) yield* listPages(server, kind, selector)
}

async function* listPages(server: ApiServer, kind: Kind, selector?: string): AsyncIterable<ListedResource> {
  let next: string | undefined
  let limit = PAGE_SIZE
  for (;;) {
    const page = await readPage(server, kind, { selector, next, limit })
    if (page === 'too large') {
      limit = Math.ceil(limit / 2)
      continue
    }
    yield* page.rows
    if (page.next === undefined) return
    next = page.next
  }
}

interface Page {
  readonly rows: readonly ListedResource[]
  readonly next: string | undefined
}

interface Query {
  readonly selector: string | undefined
  readonly next: string | undefined
  readonly limit: number
}

// Annotations may have 256 KiB: a page that is too large is read again in halves, so that no resource is missing.
async function readPage(server: ApiServer, kind: Kind, query: Query): Promise<Page | 'too large'> {
  const { selector, next, limit } = query
  const parameters = new URLSearchParams({ limit: String(limit) })
  if (selector !== undefined) parameters.set('fieldSelector', selector)
  if (next !== undefined) parameters.set('continue', next)
  const path = `${groupPath(API_VERSION)}/${PLURALS[kind]}?${parameters.toString()}`
  try {
    return pageOf(kind, await server({ method: 'GET', path, accept: TABLE }))
  } catch (error) {
    if (limit > 1 && error instanceof Failure && error.reason === 'NotSupported') return 'too large'
    throw error
  }
}

function pageOf(kind: Kind, answer: ApiAnswer): Page {
  if (answer.status === GONE) return { rows: [], next: undefined }
  const table = bodyOf(answer, `list of ${PLURALS[kind]}`)
  const columns = elements(member(table, 'columnDefinitions')).map((column) => textMember(column, 'name'))
  const rows = elements(member(table, 'rows')).map((row) => readRow(kind, columns, row))
  const next = textMember(member(table, 'metadata'), 'continue')
  return { rows: rows.filter((row) => row !== undefined), next: next === '' ? undefined : next }
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
  }
}

/** A cell's text; undefined if it has no value, which the API server prints as null or as an empty cell. */
function asText(cell: unknown): string | undefined {
  return typeof cell === 'string' && cell !== '' ? cell : undefined
}
