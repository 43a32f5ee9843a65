import { elements, member, textMember } from '../domain/member.ts'
import type { Kind } from '../domain/resources.ts'
import { API_VERSION, PLURALS, REQUESTED_AT } from '../domain/resources.ts'
import type { ApiServer } from './api-server.ts'
import { bodyOf } from './answer.ts'
import type { ListedResource } from './cluster.ts'
import { groupPath } from './discovery.ts'

/** Rows of a page: a row carries the metadata and the printed cells, some 2 KiB. */
const PAGE = 500
/** The API server prints a Table of any kind: metadata and the columns of the CRD, never the spec. */
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** A continue token that has expired: the rest of this round comes with the next one. */
const GONE = 410

/** Pages through a kind as a Table. With `phases`, only resources in one of them (a field selector each). */
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
  do {
    const query = new URLSearchParams({ limit: String(PAGE) })
    if (selector !== undefined) query.set('fieldSelector', selector)
    if (next !== undefined) query.set('continue', next)
    const path = `${groupPath(API_VERSION)}/${PLURALS[kind]}?${query.toString()}`
    const answer = await server({ method: 'GET', path, accept: TABLE })
    if (answer.status === GONE) return
    const table = bodyOf(answer, `list of ${PLURALS[kind]}`)
    const columns = elements(member(table, 'columnDefinitions')).map((column) => textMember(column, 'name'))
    for (const row of elements(member(table, 'rows'))) {
      const listed = readRow(kind, columns, row)
      if (listed !== undefined) yield listed
    }
    next = textMember(member(table, 'metadata'), 'continue') || undefined
  } while (next !== undefined)
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
    requestedAt: textMember(member(metadata, 'annotations'), REQUESTED_AT),
    observedGeneration: typeof observed === 'number' ? observed : -1,
    lastHandledRequestedAt: asText(cell('Handled')),
    nextAttemptTime: asText(cell('Next attempt')),
  }
}

/** The API server prints a missing value as null, or as an empty cell. */
function asText(cell: unknown): string | undefined {
  return typeof cell === 'string' && cell !== '' ? cell : undefined
}
