import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: ROOT }).sort()]

/** The page without its code, in which brackets are no links and # is no heading. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replace(/^```[^]*?^```$/gm, '')
}

/** Targets of a page's links that lie in this project. */
function linksIn(page: string): readonly string[] {
  const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '')
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** The anchors that hosts make of headings: lower case, blanks as hyphens, punctuation left out. */
function anchorsIn(page: string): readonly string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '')
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Why nobody arrives there, or nothing. */
function complaintOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return `${link}: there is no such file`
  if (anchor === undefined || anchorsIn(file).includes(anchor)) return undefined
  return `${link}: there is no such heading`
}

t.test('a link to a file or heading that is not there is found', async (t) => {
  const folder = t.testdir({
    'a.md': '# One, two\n[x](b.md)\n[y](#one-two)\n[z](#three)\n```\n# three\n```\n',
  })
  const page = join(folder, 'a.md')
  t.same(
    linksIn(page).map((link) => complaintOf(page, link)),
    ['b.md: there is no such file', undefined, '#three: there is no such heading'],
  )
})

for (const page of PAGES) {
  t.test(`every link of ${page} leads somewhere`, async (t) => {
    const path = join(ROOT, page)
    const links = linksIn(path)
    t.same(
      links.flatMap((link) => complaintOf(path, link) ?? []),
      [],
      `${links.length} links`,
    )
  })
}
