import { join } from 'node:path'
import { build } from 'vitepress'
import { brokenLinks } from './check.ts'
import { writePages } from './pages.ts'

const DIST = join(import.meta.dirname, '../dist')

/** `npm run site`: the documentation as a site, in dist/site. Fails for a link to a page or heading that is not there. */
async function main(): Promise<void> {
  // Such as https://git.example.com/acme/commitlet/blob/main, for links to files that are not pages.
  const source = process.env['SITE_SOURCE']?.replace(/\/+$/, '')
  writePages(join(DIST, 'site-pages'), source === '' ? undefined : source)
  await build(import.meta.dirname)
  const broken = brokenLinks(join(DIST, 'site'), process.env['SITE_BASE'] ?? '/')
  for (const link of broken) process.stderr.write(`There is no target for ${link}\n`)
  if (broken.length > 0) process.exitCode = 1
}

await main()
