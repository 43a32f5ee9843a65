import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { isRecord } from '../../functions/domain/json-value.ts'
import { REASONS } from '../../functions/domain/reasons.ts'
import { MATRIX } from '../e2e/matrix-cases.ts'
import { matrixTable } from './matrix-table.ts'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLES = join(ROOT, 'examples/authentication')
const page = readFileSync(join(ROOT, 'docs/authentication.md'), 'utf8')
const messages = readFileSync(join(ROOT, 'docs/log-in-messages.md'), 'utf8')
const files = new Map(
  readdirSync(EXAMPLES).map((file) => [file, readFileSync(join(EXAMPLES, file), 'utf8')] as const),
)
/** Each YAML of the page, and the file that is linked below it. */
const blocks = [
  ...page.matchAll(/^```yaml\n([^]*?)^```\n\n\(\[(\S+)\]\(\.\.\/examples\/authentication\/\2\)/gm),
].map(([, text = '', file = '']) => ({ text, file }))

t.test('each YAML of the page is a file, or the part of it that differs from the others', async (t) => {
  t.ok(blocks.length > 8)
  t.equal(blocks.length, page.split('```yaml').length - 1, 'each has a file')
  for (const { text, file } of blocks) {
    const whole = documentsIn(files.get(file) ?? '')
    for (const part of documentsIn(text))
      t.ok(
        whole.some((one) => holds(one, part)),
        `${file}: ${text}`,
      )
  }
  t.ok(
    blocks.some(({ text, file }) => text === files.get(file)),
    'one of them as a whole',
  )
})

t.test('each file is on the page', async (t) => {
  for (const file of files.keys()) t.match(page, `(../examples/authentication/${file})`)
})

function documentsIn(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document): unknown => document.toJS())
}

/** Whether all that the part says is so in the whole; a list is said as a whole. */
function holds(whole: unknown, part: unknown): boolean {
  if (!isRecord(part)) return isDeepStrictEqual(whole, part)
  return isRecord(whole) && Object.entries(part).every(([key, value]) => holds(whole[key], value))
}

t.test('each file says for whom it is', async (t) => {
  for (const [file, text] of files) t.match(text, /^# For (a developer|an administrator)[.,] /, file)
})

t.test('no file holds what could be taken for a secret', async (t) => {
  for (const [file, text] of files) t.notMatch(text, /BEGIN [A-Z ]*PRIVATE KEY|gh[pso]_|glpat-|AAAA/, file)
})

t.test('the table of messages is the one that the tests get from real servers', async (t) => {
  const [, shown] = /<!-- matrix -->\n([^]*?)\n<!-- \/matrix -->/.exec(messages) ?? []
  t.equal(shown, matrixTable(MATRIX), 'put what was expected into docs/log-in-messages.md')
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
