import { posix } from 'node:path'

/** Where the pages of the project are on the site: paths below the project's folder, and below the site's. */
export type Pages = ReadonlyMap<string, string>

/** A link of Markdown whose target is neither another site nor an anchor of the page; an image begins with `!`. */
const LINK = /(!?)\[((?:[^[\]]|!?\[[^\]]*\](?:\([^)]*\))?)*)\]\(([^)\s#:]+)(#[^)\s]*)?\)/g
const FENCE = /^(```[^]*?^```$)/m

/**
 * The text of a page with links that lead to other pages of the site. Other files of the project are linked at `source`,
 * the address of the project's files, or only named if there is none.
 */
export function withSiteLinks(text: string, file: string, pages: Pages, source: string | undefined): string {
  const replace = (...[, mark = '', shown = '', path = '', anchor = '']: readonly string[]): string => {
    const target = posix.join(posix.dirname(file), path).replace(/\/$/, '')
    if (mark === '!') return `![${shown}](/${posix.basename(target)})`
    const page = pages.get(target)
    if (page !== undefined) return `[${shown}](/${page}${anchor})`
    return source === undefined ? shown : `[${shown}](${source}/${target}${anchor})`
  }
  // Code is left as it is.
  return text
    .split(FENCE)
    .map((part) => (part.startsWith('```') ? part : part.replace(LINK, replace)))
    .join('')
}
