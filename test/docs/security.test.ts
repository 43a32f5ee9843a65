import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const DOCS = join(import.meta.dirname, '../../docs')

/** Links of a page to tests: the title of the test, and its file. */
function testsNamedIn(page: string): readonly (readonly [title: string, file: string])[] {
  const text = readFileSync(join(DOCS, page), 'utf8')
  return [...text.matchAll(/\[([^\]]+)\]\((\.\.\/test\/[^)]+)\)/g)].map(([, title, file]) => [
    title ?? '',
    file ?? '',
  ])
}

const named = testsNamedIn('security.md')

t.ok(named.length > 20, `security.md names ${named.length} tests`)
for (const [title, file] of named) {
  t.test(`there is a test "${title}"`, async (t) => {
    const path = join(DOCS, file)
    if (!existsSync(path)) return t.fail(`${file} is not there`)
    const source = readFileSync(path, 'utf8').replaceAll("\\'", "'")
    t.ok(source.includes(title), file)
  })
}
