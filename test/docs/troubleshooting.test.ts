import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { REASONS } from '../../functions/domain/reasons.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8')
const ANSWERS = {
  never: /^no\b/,
  slow: /^slowly$/,
  transient: /^yes$/,
  reference: /^as soon as it is there$/,
} as const

const [, SECTION = ''] = PAGE.split('## Reasons')
/** Each reason with the second column of its row; a row may name several. */
const ROWS = [...SECTION.matchAll(/^\| ([A-Z][A-Za-z, ]+) \|([^|]*)\|[^|]*\|$/gm)].flatMap(
  ([, reasons = '', answer = '']) => reasons.split(', ').map((reason) => [reason, answer.trim()] as const),
)

t.test('each reason has one row, and no row names anything else', async (t) => {
  const reasons = ['Succeeded', 'UpToDate', ...Object.keys(REASONS)]
  t.strictSame(ROWS.map(([reason]) => reason).toSorted(), reasons.toSorted())
})

t.test('each row says whether its reason is retried', async (t) => {
  const answers = new Map(ROWS)
  for (const [reason, { retry }] of Object.entries(REASONS))
    t.match(answers.get(reason), ANSWERS[retry], reason)
})

t.test('reasons that are retried for a day say so', async (t) => {
  const text = SECTION.trimEnd().split('\n\n').at(-1) ?? ''
  t.match(text, / 12 attempts .* a day/s)
  for (const [reason, { budget }] of Object.entries(REASONS))
    t.equal(text.includes(reason), budget === 'day', reason)
})
