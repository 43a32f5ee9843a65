import type { ListedResource } from '../cluster.ts'

/** Retries of a namespace that are kept: as many as all namespaces share at once. */
const OF_NAMESPACE = 20
/** Of all; more are found again by the next round. */
const OF_ALL = 10_000

/** What waits for its share beyond what its namespace has. */
export interface Beyond {
  /** Whether it was kept. */
  readonly add: (row: ListedResource) => boolean
  /** Takes them: the first of each namespace, then the second of each, and so on. */
  readonly inTurns: () => Generator<ListedResource>
}

/** Keeps none at first. */
export function makeBeyond(): Beyond {
  const kept = new Map<string, ListedResource[]>()
  let size = 0

  function add(row: ListedResource): boolean {
    const { namespace } = row.ref
    const rows = kept.get(namespace) ?? []
    if (rows.length >= OF_NAMESPACE || size >= OF_ALL) return false
    rows.push(row)
    size += 1
    kept.set(namespace, rows)
    return true
  }

  function* inTurns(): Generator<ListedResource> {
    const lists = [...kept.values()]
    kept.clear()
    size = 0
    for (let turn = 0; turn < OF_NAMESPACE; turn += 1)
      for (const rows of lists) yield* rows.slice(turn, turn + 1)
  }

  return { add, inTurns }
}
