import type { Cluster, ListedResource } from '../../functions/cluster/cluster.ts'
import type { Kind } from '../../functions/domain/resource/api-names.ts'
import type { Phase } from '../../functions/domain/resource/stored-status.ts'

/** The phases of a resource that is not settled. */
export const UNSETTLED = ['Pending', 'Progressing', 'Retrying'] as const

/** All rows of a kind, page by page; with `phases`, those of one phase after those of another. */
export async function allRows(
  { listPage }: Pick<Cluster, 'listPage'>,
  kind: Kind,
  phases: readonly (Phase | undefined)[] = [undefined],
): Promise<ListedResource[]> {
  const rows: ListedResource[] = []
  for (const phase of phases) {
    let next: string | undefined
    do {
      const page = await listPage(kind, { phase, next })
      rows.push(...page.rows)
      next = page.next
    } while (next !== undefined)
  }
  return rows
}
