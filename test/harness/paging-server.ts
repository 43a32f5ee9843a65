import type { ApiAnswer, ApiCall, ApiServer } from '../../functions/cluster/api-server.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { Kind } from '../../functions/domain/resource/api-names.ts'
import type { Phase } from '../../functions/domain/resource/stored-status.ts'
import { API_VERSION, PLURALS } from '../../functions/domain/resource/api-names.ts'

/** A resource of the stand-in. Without `observed`, no attempt has started yet. */
export interface StoredResource {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly phase: Phase
  readonly observed?: number
  /** Default: 1. */
  readonly generation?: number
  readonly nextAttemptTime?: string
  /** Of its condition Ready. */
  readonly reason?: string
  /** `spec.interval` of one that follows its sources; empty: it says none. */
  readonly follows?: string
  /** Characters of an annotation. */
  readonly annotated?: number
}

/** What was asked of the stand-in: pages of lists (with the number of rows sent), and single resources. */
export interface Asked {
  pages: number
  rows: number
  reads: number
}

/** A stand-in for the API server that lists and reads the two kinds as a real one does: sorted, in pages, selected. */
export interface PagingServer {
  readonly server: ApiServer
  readonly asked: Asked
  /** Replaces all resources. */
  readonly store: (resources: readonly StoredResource[]) => void
  /** Whether `settle` does anything. */
  settles: boolean
  /** Ends the work on one resource. */
  readonly settle: (namespace: string, name: string) => void
  /** An answer in place of the usual one; a test sets it. */
  fault: (call: ApiCall) => Promise<ApiAnswer> | undefined
}

/** GitCommits of one namespace that were never started. */
export function pendingIn(namespace: string, count: number): StoredResource[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'GitCommit',
    namespace,
    name: `r-${index}`,
    phase: 'Pending',
  }))
}

const COLUMNS = ['Next attempt', 'Observed', 'Handled', 'Reason', 'Interval'].map((name) => ({ name }))
const LIST = /^\/apis\/commitlet\.dev\/v1(?:\/namespaces\/([^/]+))?\/(gitcommits|pullrequests)$/
const READ = /^\/apis\/commitlet\.dev\/v1\/namespaces\/([^/]+)\/(gitcommits|pullrequests)\/([^/]+)$/

/** Makes one without resources. */
export function pagingServer(): PagingServer {
  const asked: Asked = { pages: 0, rows: 0, reads: 0 }
  let sorted: StoredResource[] = []

  function list(kind: Kind, namespace: string | undefined, query: URLSearchParams): ApiAnswer {
    const selects = selection(query.get('fieldSelector') ?? '')
    const limit = Number(query.get('limit') ?? Infinity)
    const rows: StoredResource[] = []
    let at = query.has('continue') ? firstAfter(sorted, `${query.get('continue')}`) : 0
    if (namespace !== undefined) at = Math.max(at, firstAfter(sorted, `${namespace}/`))
    let last = ''
    for (; at < sorted.length; at += 1) {
      const one = sorted[at]!
      if (namespace !== undefined && one.namespace !== namespace) break
      if (one.kind !== kind || !selects(one)) continue
      if (rows.length === limit) return answer(rows, last)
      rows.push(one)
      last = keyOf(one)
    }
    return answer(rows, undefined)
  }

  function answer(rows: readonly StoredResource[], next: string | undefined): ApiAnswer {
    asked.pages += 1
    asked.rows += rows.length
    const metadata = next === undefined ? {} : { continue: next }
    const table = { kind: 'Table', metadata, columnDefinitions: COLUMNS, rows: rows.map(rowOf) }
    return { status: 200, text: JSON.stringify(table) }
  }

  function read(kind: Kind, namespace: string, name: string): ApiAnswer {
    asked.reads += 1
    const found = sorted[firstAfter(sorted, `${namespace}/${name}`) - 1]
    if (found?.kind !== kind || found.namespace !== namespace || found.name !== name) {
      return { status: 404, text: '{}' }
    }
    const spec = { repository: `https://git.example.com/${namespace}/config.git`, branch: 'main' }
    const resource = { apiVersion: API_VERSION, kind, metadata: metadataOf(found), spec }
    return { status: 200, text: JSON.stringify(resource) }
  }

  async function respond(call: ApiCall): Promise<ApiAnswer> {
    const url = new URL(call.path, 'https://localhost')
    const [, namespace, plural = ''] = LIST.exec(url.pathname) ?? []
    if (plural !== '') {
      const listed = list(kindOf(plural), namespace, url.searchParams)
      if (listed.text.length <= (call.most ?? Infinity)) return listed
      throw new Failure('NotSupported', 'The API server answered with too much.')
    }
    const [, of = '', kind = '', name = ''] = READ.exec(url.pathname) ?? []
    return read(kindOf(kind), of, name)
  }

  const stand: PagingServer = {
    asked,
    server: (call) => stand.fault(call) ?? respond(call),
    store: (resources) => (sorted = [...resources].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))),
    settles: true,
    settle(namespace, name) {
      if (!stand.settles) return
      const at = firstAfter(sorted, `${namespace}/${name}`) - 1
      sorted[at] = { ...sorted[at]!, phase: 'Succeeded', observed: 1 }
    },
    fault: () => undefined,
  }
  return stand
}

function keyOf({ namespace, name }: StoredResource): string {
  return `${namespace}/${name}`
}

/** The index of the first resource whose key is greater. */
function firstAfter(sorted: readonly StoredResource[], key: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (keyOf(sorted[middle]!) <= key) low = middle + 1
    else high = middle
  }
  return low
}

/** The two fields and the two operators that lists of custom resources have. */
function selection(selector: string): (resource: StoredResource) => boolean {
  const terms = selector.split(',').filter((term) => term !== '')
  const excluded = new Set(terms.filter((term) => term.includes('!=')).map((term) => term.split('!=')[1]))
  const phase = terms.find((term) => term.startsWith('status.phase='))?.split('=')[1]
  // Both namespaces and phases: no namespace has the name of a phase.
  const isExcluded = (one: StoredResource): boolean => excluded.has(one.namespace) || excluded.has(one.phase)
  const isFollower = terms.includes('spec.sync=OnChange')
  const isSelected = (one: StoredResource): boolean => !isFollower || one.follows !== undefined
  return (one) => (phase === undefined || one.phase === phase) && isSelected(one) && !isExcluded(one)
}

function metadataOf({ namespace, name, generation = 1, annotated = 0 }: StoredResource): object {
  const annotations = annotated === 0 ? {} : { annotations: { 'example.com/note': 'x'.repeat(annotated) } }
  return { namespace, name, uid: `${namespace}-${name}`, generation, ...annotations }
}

function rowOf(resource: StoredResource): object {
  const { nextAttemptTime = null, observed = null, reason = null, follows = null } = resource
  const cells = [nextAttemptTime, observed, null, reason, follows]
  return { cells, object: { kind: 'PartialObjectMetadata', metadata: metadataOf(resource) } }
}

function kindOf(plural: string): Kind {
  return plural === PLURALS.GitCommit ? 'GitCommit' : 'PullRequest'
}
