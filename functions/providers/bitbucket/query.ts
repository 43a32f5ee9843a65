import type { Branches } from '../../domain/pull-request/pull-requests.ts'

/** Which pull requests are looked for. */
export interface Sought {
  readonly branches: Branches
  readonly among: 'open' | 'all'
  /** Workspace and repository, each a slug or a UUID in braces. */
  readonly repository: readonly string[]
}

/**
 * Only closed states are excluded, because drafts and pull requests in the merge queue may have their own open states.
 */
const CLOSED = ['MERGED', 'DECLINED', 'SUPERSEDED']

/**
 * The filter for the pull requests of these branches; without a state in the filter, those of every state are listed.
 * Pull requests from forks are excluded, because anyone may open any number of them, unless the workspace is a UUID and
 * the repository is not: no field has both. Source: Bitbucket's documentation, "Filter and sort API objects".
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
