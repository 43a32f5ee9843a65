import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { anchorOf } from '../../site/anchors.ts'
import { brokenLinks } from '../../site/check.ts'
import { withSiteLinks } from '../../site/links.ts'
import { sitePages } from '../../site/pages.ts'
import { SIDEBAR } from '../../site/sidebar.ts'
import { isLong } from '../harness/sample.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = new Map([
  ['docs/install.md', 'install.md'],
  ['README.md', 'introduction.md'],
])

const LINKS = [
  ['[a](install.md#x)', '[a](/install.md#x)'],
  ['[a](../README.md), [`b`](install.md)', '[a](/introduction.md), [`b`](/install.md)'],
  ['[a](#here) and [b](https://example.com/x.md)', '[a](#here) and [b](https://example.com/x.md)'],
  ['[a](../test/x.test.ts)', '[a](https://git.example.com/test/x.test.ts)'],
  ['[a](../examples/)', '[a](https://git.example.com/examples)'],
  ['![a picture](performance/one.svg)', '![a picture](/one.svg)'],
  ['```md\n[a](install.md)\n```', '```md\n[a](install.md)\n```'],
] as const

for (const [text, shown] of LINKS) {
  t.test(`${JSON.stringify(text)} becomes ${JSON.stringify(shown)}`, async (t) => {
    t.equal(withSiteLinks(text, 'docs/a.md', PAGES, 'https://git.example.com'), shown)
  })
}

t.test('without an address of the files, they are named without a link', async (t) => {
  const text = '[a](../test/x.test.ts), [b](install.md)'
  t.equal(withSiteLinks(text, 'docs/a.md', PAGES, undefined), 'a, [b](/install.md)')
})

t.test('the menu has every page of the site once', async (t) => {
  const links = SIDEBAR.flatMap(({ items }) => items.map(({ link }) => link))
  const inMenu = links.filter((link) => !link.includes('#')).map((link) => `${link.slice(1)}.md`)
  // The first page is reached by the title.
  const pages = [...sitePages().values()].filter((page) => page !== 'index.md')
  t.strictSame(inMenu.toSorted(), pages.toSorted())
  t.ok(pages.length > 25, `${pages.length} pages`)
})

t.test(
  'pictures of all folders have different names, because they are in one folder of the site',
  async (t) => {
    const names = globSync('docs/**/*.{svg,png}', { cwd: ROOT }).map((file) => file.split('/').at(-1))
    t.equal(new Set(names).size, names.length)
  },
)

t.test('a link to a page or heading that a built site does not have is found', async (t) => {
  const folder = t.testdir({
    'index.html':
      '<h2 id="one">One</h2><a href="/b/a#two">x</a><a href="/b/a#three">x</a><a href="/b/c">x</a><a class="y" href="#one">x</a>',
    'a.html': '<h2 id="two">Two</h2><a href="/b/">x</a><a href="https://example.com/z">x</a>',
  })
  t.strictSame(brokenLinks(folder, '/b/'), ['index.html: /b/a#three', 'index.html: /b/c#'])
})

t.test('anchors are those of Git hosts', async (t) => {
  t.equal(anchorOf('1. The image'), '1-the-image')
  t.equal(anchorOf('`spec.files[]`, and *more*'), 'specfiles-and-more')
})

t.test(
  'the whole site is built, with a search',
  { skip: isLong() ? false : 'CI and long runs do' },
  async (t) => {
    const { status, stderr } = spawnSync(process.execPath, ['site/build.ts'], { cwd: ROOT, encoding: 'utf8' })
    t.equal(status, 0, stderr)
    const concepts = readFileSync(join(ROOT, 'dist/site/concepts.html'), 'utf8')
    t.match(concepts, /<pre class="diagram"[^>]*>sequenceDiagram/, 'diagrams are for the browser to draw')
    t.ok(existsSync(join(ROOT, 'dist/site/mermaid.tiny.js')))
    const chunks = globSync('dist/site/assets/chunks/@localSearchIndex*.js', { cwd: ROOT })
    t.equal(chunks.length, 1)
    t.match(readFileSync(join(ROOT, chunks[0] ?? ''), 'utf8'), /HostKeyMismatch/i)
  },
)
