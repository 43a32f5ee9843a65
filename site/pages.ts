import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { withSiteLinks, type Pages } from './links.ts'

const ROOT = join(import.meta.dirname, '..')
/** Pages outside docs/, and their names on the site. */
const OTHERS = {
  'README.md': 'introduction.md',
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'reporting.md',
}
/** Needed by the pages in a browser; one file that draws the diagrams. */
const MERMAID = 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js'

/** Every page of the project that is on the site. */
export function sitePages(): Pages {
  const docs = globSync('docs/**/*.md', { cwd: ROOT }).sort()
  const names = docs.map((file) => [file, relative('docs', file).replace('README.md', 'index.md')] as const)
  return new Map([...names, ...Object.entries(OTHERS)])
}

/** Writes all pages and pictures into the folder, as VitePress reads them. `source`: see withSiteLinks. */
export function writePages(folder: string, source: string | undefined): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'public'), { recursive: true })
  const pages = sitePages()
  for (const [file, page] of pages) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    mkdirSync(join(folder, dirname(page)), { recursive: true })
    writeFileSync(join(folder, page), withSiteLinks(text, file, pages, source))
  }
  const pictures = globSync('docs/**/*.{svg,png}', { cwd: ROOT })
  for (const picture of [...pictures, MERMAID])
    copyFileSync(join(ROOT, picture), join(folder, 'public', basename(picture)))
}
