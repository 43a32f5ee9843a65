import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const DOCS = join(import.meta.dirname, '../../docs')
/** A string literal of the source. */
const TEXT = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/

/** The links of a page to tests: title of the test, and its file. */
function testsNamedIn(page: string): readonly (readonly [title: string, file: string])[] {
  const text = readFileSync(join(DOCS, page), 'utf8')
  return [...text.matchAll(/\[([^\]]+)\]\((\.\.\/test\/[^)]+)\)/g)].map(([, title, file]) => [
    title ?? '',
    file ?? '',
  ])
}

/** The titles in a test file: arguments of t.test and of drawnTests, `title` of an object, or first in a row of a table. */
function titlesIn(source: string): readonly string[] {
  const places = new RegExp(`(?:\\b(?:(?:t\\.)?test|drawn)\\(|\\btitle:|^ *\\[)\\s*(?:${TEXT.source})`, 'gm')
  return [...source.matchAll(places)].map(([, single, double, template]) =>
    // Values in a template differ from test to test, and so does what stands before a colon.
    (single ?? double ?? `${template}`.replace(/^\$\{[^}]*\}: |\$\{[^}]*\}/g, ''))
      .replace(/\\(.)/g, '$1')
      .trim(),
  )
}

t.test('a title is an argument of t.test or comes from a table, and not any other string', async (t) => {
  const source = `// 'a comment' \n t.test(\n  "a's", f)\nt.test(\`\${user} may\`, f)\n  { title: 'it\\'s' },\n [ 'row', 1],\n t.equal(1, 1, 'no')`
  t.same(titlesIn(source), ["a's", 'may', "it's", 'row'])
})

for (const page of ['security.md', 'bounds.md']) {
  const named = testsNamedIn(page)
  t.ok(named.length > 50, `${page} names ${named.length} tests`)
  for (const [title, file] of named) {
    t.test(`the test "${title}" exists, which ${page} names`, async (t) => {
      const path = join(DOCS, file)
      if (!existsSync(path)) return t.fail(`${file} does not exist`)
      t.ok(titlesIn(readFileSync(path, 'utf8')).includes(title), file)
    })
  }
}
