import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const DOCS = join(ROOT, 'docs')
const BOUNDS = globSync('bounds/*.md', { cwd: DOCS }).sort()
/** A string literal of the source. */
const TEXT = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/

/** The links of a page to tests: title of the test, and its file. */
function testsNamedIn(page: string): readonly (readonly [title: string, file: string])[] {
  const text = readFileSync(join(DOCS, page), 'utf8')
  return [...text.matchAll(/\[([^\]]+)\]\((?:\.\.\/)+(test\/[^)]+)\)/g)].map(([, title, file]) => [
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

t.test('every page of bounds names tests', async (t) => {
  for (const page of BOUNDS) t.ok(testsNamedIn(page).length > 0, page)
  t.ok(BOUNDS.flatMap(testsNamedIn).length > 500)
})

for (const page of ['security.md', ...BOUNDS]) {
  for (const [title, file] of testsNamedIn(page)) {
    t.test(`the test "${title}" exists, which ${page} names`, async (t) => {
      const path = join(ROOT, file)
      if (!existsSync(path)) return t.fail(`${file} does not exist`)
      t.ok(titlesIn(readFileSync(path, 'utf8')).includes(title), file)
    })
  }
}
