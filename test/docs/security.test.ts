import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const DOCS = join(import.meta.dirname, '../../docs')
/** Words in quotes, as the source has them. */
const TEXT = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/

/** Links of a page to tests: the title of the test, and its file. */
function testsNamedIn(page: string): readonly (readonly [title: string, file: string])[] {
  const text = readFileSync(join(DOCS, page), 'utf8')
  return [...text.matchAll(/\[([^\]]+)\]\((\.\.\/test\/[^)]+)\)/g)].map(([, title, file]) => [
    title ?? '',
    file ?? '',
  ])
}

/** The titles that a test file gives: to t.test itself, or as `title` or in front of a row of its tables. */
function titlesIn(source: string): readonly string[] {
  const places = new RegExp(`(?:\\bt\\.test\\(|\\btitle:|^ *\\[)\\s*(?:${TEXT.source})`, 'gm')
  return [...source.matchAll(places)].map(([, single, double, template]) =>
    // What a template fills in differs from test to test.
    (single ?? double ?? `${template}`.replace(/\$\{[^}]*\}/g, '')).replace(/\\(.)/g, '$1').trim(),
  )
}

t.test('a title is one that t.test or a table gives, and no other words of the file', async (t) => {
  const source = `// 'a comment' \n t.test(\n  "a's", f)\nt.test(\`\${user} may\`, f)\n  { title: 'it\\'s' },\n [ 'row', 1],\n t.equal(1, 1, 'no')`
  t.same(titlesIn(source), ["a's", 'may', "it's", 'row'])
})

const named = testsNamedIn('security.md')

t.ok(named.length > 20, `security.md names ${named.length} tests`)
for (const [title, file] of named) {
  t.test(`there is a test "${title}"`, async (t) => {
    const path = join(DOCS, file)
    if (!existsSync(path)) return t.fail(`${file} is not there`)
    t.ok(titlesIn(readFileSync(path, 'utf8')).includes(title), file)
  })
}
