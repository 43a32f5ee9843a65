import { settle, type Entry } from './entry.ts'
import type { Base } from './fetch.ts'
import { findLanded } from './history.ts'
import type { Session } from './session.ts'

/** Whose commits may be on the branch already, and since when history has to tell. */
export interface Search {
  readonly since: Date
  readonly entries: readonly Entry[]
}

/** The search for what earlier attempts may have pushed; undefined: each change is at its first attempt. */
export function firstSearch(batch: readonly Entry[]): Search | undefined {
  const entries = batch.filter(({ change }) => change.since !== undefined)
  const since = Math.min(...entries.map(({ change }) => change.since?.getTime() ?? Infinity))
  return entries.length === 0 ? undefined : { since: new Date(since), entries }
}

/** Settles those of the search whose commits are in the history of `base`. */
export async function settleFound(
  session: Session,
  { base, search }: { readonly base: Base; readonly search: Search },
  left: Set<Entry>,
): Promise<void> {
  if (!base.exists) return
  for (const [entry, sha] of await findLanded(session, base.branch, search.entries)) {
    settle(left, entry, { outcome: 'found', sha, branch: base.branch })
  }
}
