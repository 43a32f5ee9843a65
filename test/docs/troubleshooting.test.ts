import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RETRY_BY_REASON } from '../../functions/domain/failure.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8')
const ANSWERS = { never: /^no\b/, slow: /^slowly$/, transient: /^yes$/ } as const

/** The second column of the row whose first one names the reason. */
function answerFor(reason: string): string {
  const rows = [...PAGE.matchAll(/^\| ([A-Za-z, ]+) \| ([^|]*) \| [^|]+ \|$/gm)]
  const row = rows.find(([, reasons = '']) => reasons.split(', ').includes(reason))
  return row?.[2]?.trim() ?? 'there is no row'
}

t.test('a row with several reasons is found by each of them', async (t) => {
  t.equal(answerFor('RateLimited'), 'yes')
  t.equal(answerFor('Timeout'), 'yes')
  t.equal(answerFor('Unheard'), 'there is no row')
})

t.test('each reason has a row that says whether it is tried again', async (t) => {
  for (const [reason, retry] of Object.entries(RETRY_BY_REASON))
    t.match(answerFor(reason), ANSWERS[retry], reason)
})
