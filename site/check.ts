import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const HREF = /<a\b[^>]*\shref="([^"#]*)(?:#([^"]*))?"/g
const ID = /\sid="([^"]+)"/g

/** The links in the pages of a built site whose page or heading is not there, as `page: link`. */
export function brokenLinks(folder: string, base: string): readonly string[] {
  const files = globSync('**/*.html', { cwd: folder })
  const texts = new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
  const headings = new Map([...texts].map(([file, text]) => [file, idsIn(text)]))
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(HREF)]
      .filter(([, path = '']) => path === '' || path.startsWith(base))
      .filter(([, path = '', anchor]) => {
        const ids = headings.get(path === '' ? file : pageAt(path.slice(base.length)))
        return ids === undefined || (anchor !== undefined && !ids.has(decodeURIComponent(anchor)))
      })
      .map(([, path = '', anchor = '']) => `${file}: ${path}#${anchor}`),
  )
}

function idsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(ID)].map(([, id = '']) => id))
}

function pageAt(path: string): string {
  return path === '' ? 'index.html' : `${path}.html`
}
