import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { isFailureReason, REASONS } from '../../functions/domain/reasons.ts'
import { nextDelay } from '../../functions/domain/resource/backoff.ts'

const ROOT = join(import.meta.dirname, '../..')
const NAMES = Object.keys(REASONS)
const NAME = `(?:${NAMES.join('|')})`

/**
 * Two reasons in one list: elements of an array or a set, parts of a union or of a comparison, cases of a switch, or
 * keys of an object.
 */
const LISTS = [
  new RegExp(`'${NAME}'\\s*(?:,|\\|\\|?|&&|:\\s*case)\\s*(?:[\\w.?]+\\s*[!=]==\\s*)?'${NAME}'`),
  new RegExp(`^\\s*'?${NAME}'?: .*\\n\\s*'?${NAME}'?: `, 'm'),
]

function listIn(text: string): string | undefined {
  return LISTS.map((list) => list.exec(text)?.[0]).find((found) => found !== undefined)
}

for (const [what, text] of [
  ['an array', "const FINAL = ['PushRejected', 'PathConflict']"],
  ['a set over several lines', "new Set([\n  'PushRejected',\n  'PathConflict',\n])"],
  ['a union', "type Final = 'PushRejected' | 'PathConflict'"],
  ['a comparison', "if (error.reason === 'Timeout' || error.reason === 'NetworkError') return"],
  ['a comparison with neither', "reason !== 'Timeout' && reason !== 'NetworkError'"],
  ['a switch', "case 'Timeout':\n  case 'NetworkError':"],
  ['keys', "{\n  Timeout: 'yes',\n  NetworkError: 'yes',\n}"],
] as const)
  t.test(`a list is found: ${what}`, async (t) => t.type(listIn(text), 'string'))

t.test('no file but the table has a list of reasons: their rows say what they mean', async (t) => {
  const files = globSync(['functions/**/*.ts', 'webhook/**/*.ts'], { cwd: ROOT })
  const table = join('functions', 'domain', 'reasons.ts')
  t.ok(files.includes(table) && files.length > 150, 'the sources are found')
  for (const file of files)
    if (file !== table) t.equal(listIn(readFileSync(join(ROOT, file), 'utf8')), undefined, file)
})

t.test('a reason is distinguished from any other text, such as that of a condition', async (t) => {
  for (const reason of NAMES) t.ok(isFailureReason(reason), reason)
  for (const other of ['Succeeded', 'Progressing', 'toString', '', undefined]) t.notOk(isFailureReason(other))
})

t.test('temporary reasons are retried, and permanent errors of a spec are not', async (t) => {
  for (const [reason, row] of Object.entries(REASONS)) {
    if (row.denial === 'ServiceUnavailable') t.equal(row.retry, 'transient', reason)
    if (row.budget !== undefined) t.equal(row.retry, 'transient', reason)
    if (row.fallback) t.equal(row.side, 'user', reason)
  }
})

t.test(
  'what is in the way at a branch, where others write too, is tried again at long intervals',
  async (t) => {
    const history = { attempts: 1, limit: 12, elapsedSeconds: 0, random: 0 }
    t.equal(nextDelay(new Failure('PathConflict', 'A file is there.'), history), 300)
    t.equal(nextDelay(new Failure('PushRejected', 'A hook says no.'), history), 'final')
  },
)

t.test('what a server shows before it is known is no failure for good', async (t) => {
  const history = { attempts: 1, limit: 12, elapsedSeconds: 0, random: 0 }
  for (const reason of ['TLSUntrusted', 'HostKeyMismatch', 'HostKeyUnknown'] as const)
    t.equal(nextDelay(new Failure(reason, 'Somebody else has answered.'), history), 300, reason)
})
