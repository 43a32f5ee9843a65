import { publicHost } from './public-host.ts'

/**
 * What follows the path of a repository in the addresses of its pages. GitLab has these names for nothing else
 * (https://docs.gitlab.com/user/reserved_names/).
 */
const PAGES = /^(?:-|tree|blob|raw|blame|commits|refs|wikis)$/
/** The same on a host that is not known: of Gitea (`src/branch/main`), too. */
const LIKELY_PAGES = /^(?:-|tree|blob|src)$/
/** A page that has to be followed by what it shows: a repository may have such a name. */
const SHOWS_MORE = 1

/** The repository whose page has a path of these segments at a public host, such as `acme/shop/tree/main`; undefined: none. */
export function repositoryOfPage(host: string, segments: readonly string[]): readonly string[] | undefined {
  const row = publicHost(host)
  if (row === undefined) return undefined
  if (row.repositoryPath === 'two') return segments.length > 2 ? segments.slice(0, 2) : undefined
  return before(segments, PAGES)
}

/** The repository of what looks like the path of a page at any other host, where it may be that of a repository; undefined: none. */
export function likelyRepository(host: string, segments: readonly string[]): readonly string[] | undefined {
  if (publicHost(host) !== undefined) return undefined
  const found = before(segments, LIKELY_PAGES)
  return found === undefined || segments.length - found.length <= SHOWS_MORE ? undefined : found
}

// A repository has an owner and a name at least.
function before(segments: readonly string[], pages: RegExp): readonly string[] | undefined {
  const at = segments.findIndex((segment, index) => index > 1 && pages.test(segment))
  return at < 0 ? undefined : segments.slice(0, at)
}
