import type { Branches } from '../../domain/pull-request/pull-requests.ts'

/** Which pull requests are looked for. */
export interface Sought {
  readonly branches: Branches
  readonly among: 'open' | 'all'
  /** Workspace and repository, each a slug or a UUID in braces. */
  readonly repository: readonly string[]
}

/** An open one may also be a draft, or wait for its merge: both may be states of their own. */
const CLOSED = ['MERGED', 'DECLINED', 'SUPERSEDED']

/**
 * The filter for the pull requests of these branches; without a state those of every state are listed. Those of forks
 * are left out, of which anybody may open as many as they like, but where the workspace alone is a UUID: no field has
 * that with a slug. Source: Bitbucket's documentation, "Filter and sort API objects".
 */
export function queryOf({ branches: { base, head }, among, repository }: Sought): string {
  const terms = [
    `source.branch.name = ${quoted(head)}`,
    `destination.branch.name = ${quoted(base)}`,
    ...ownRepository(repository.map((segment) => segment.toLowerCase())),
    ...(among === 'open' ? CLOSED.map((state) => `state != ${quoted(state)}`) : []),
  ]
  return terms.join(' AND ')
}

function ownRepository(repository: readonly string[]): readonly string[] {
  const [workspace = '', slug = ''] = repository
  if (slug.startsWith('{')) return [`source.repository.uuid = ${quoted(slug)}`]
  if (workspace.startsWith('{')) return []
  return [`source.repository.full_name = ${quoted(`${workspace}/${slug}`)}`]
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
