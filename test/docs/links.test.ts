import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()]

/** The page without code blocks, where brackets are not links and # is not a heading. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replace(/^```[^]*?^```$/gm, '')
}

/** The targets of a page's links within this project. */
function linksIn(page: string): readonly string[] {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '')
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** The anchors that Git hosts make from headings: lower case, hyphens instead of blanks, no punctuation. */
function anchorsIn(page: string): readonly string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '')
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Why the link is broken; undefined if it is not. */
function problemOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return `${link}: no such file`
  if (anchor === undefined || anchorsIn(file).includes(anchor)) return undefined
  return `${link}: no such heading`
}

t.test('a link to a missing file or heading is found', async (t) => {
  const folder = t.testdir({
    'a.md': '# One, two\n[x](b.md)\n[y](#one-two)\n[z](#three)\n```\n# three\n```\n',
  })
  const page = join(folder, 'a.md')
  t.same(
    linksIn(page).map((link) => problemOf(page, link)),
    ['b.md: no such file', undefined, '#three: no such heading'],
  )
})

for (const page of PAGES) {
  t.test(`every link of ${page} has a target`, async (t) => {
    const path = join(ROOT, page)
    const links = linksIn(path)
    t.same(
      links.flatMap((link) => problemOf(path, link) ?? []),
      [],
      `${links.length} links`,
    )
  })
}
