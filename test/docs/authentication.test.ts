import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { REASONS } from '../../functions/domain/reasons.ts'
import { MATRIX } from '../e2e/matrix-cases.ts'
import { matrixTable } from './matrix-table.ts'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLES = join(ROOT, 'examples/authentication')
const page = readFileSync(join(ROOT, 'docs/authentication.md'), 'utf8')
const files = new Map(
  readdirSync(EXAMPLES).map((file) => [file, readFileSync(join(EXAMPLES, file), 'utf8')] as const),
)
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text ?? '')

t.test('each YAML of the page is a file, word for word', async (t) => {
  t.ok(blocks.length > 10)
  const texts = [...files.values()]
  for (const block of blocks) t.ok(texts.includes(block), block.split('\n')[0] ?? '')
})

t.test('each file is on the page', async (t) => {
  for (const [file, text] of files) t.ok(blocks.includes(text), file)
})

t.test('each file says for whom it is', async (t) => {
  for (const [file, text] of files) t.match(text, /^# For (a developer|an administrator)[.,] /, file)
})

t.test('no file holds what could be taken for a secret', async (t) => {
  for (const [file, text] of files) t.notMatch(text, /BEGIN [A-Z ]*PRIVATE KEY|gh[pso]_|glpat-|AAAA/, file)
})

t.test('the table of messages is the one that the tests get from real servers', async (t) => {
  const [, shown] = /<!-- matrix -->\n([^]*?)\n<!-- \/matrix -->/.exec(page) ?? []
  t.equal(shown, matrixTable(MATRIX), 'put what was expected into docs/authentication.md')
})

t.test('the reasons for which the fallback is used are those of the table', async (t) => {
  const [, named = ''] = /^\| ([^|]+) \| are used \|$/m.exec(page) ?? []
  const blamed = Object.entries(REASONS).flatMap(([reason, { fallback }]) => (fallback ? [reason] : []))
  t.strictSame(
    named
      .replace(/ \([^)]*\)/g, '')
      .split(', ')
      .toSorted(),
    blamed.toSorted(),
  )
  const others = [...page.matchAll(/^\| ([^|]+) \| are not[^|]+ \|$/gm)]
    .map(([, reasons = '']) => reasons)
    .join()
  t.ok(others.includes('NetworkError'), 'the other rows are found')
  for (const reason of blamed) t.notMatch(others, reason)
})
