import t from 'tap'
import { requestErrors } from '../../../functions/domain/requester/request-errors.ts'

const KEY = 'commitlet.dev/requested-at'
const ADVICE = 'write a value such as "$(date -u +%FT%TZ)".'

function errorsOf(value: string): readonly string[] {
  return requestErrors({ metadata: { annotations: { [KEY]: value } } }).map(({ message }) => message)
}

t.test('a request of one short line is fine, and so is none', async (t) => {
  for (const value of ['2026-10-04T12:00:00Z', 'für Müller: noch einmal', '', 'x'.repeat(253)])
    t.same(errorsOf(value), [], value)
  t.same(requestErrors({ metadata: {} }), [])
  t.same(requestErrors(undefined), [])
})

t.test('a long request is refused, because the status and every list repeat it', async (t) => {
  t.same(errorsOf('x'.repeat(254)), [
    `metadata.annotations[${KEY}] has 254 characters, more than 253; ${ADVICE}`,
  ])
})

for (const [title, value] of [
  ['a line feed', 'now\n'],
  ['NUL', 'n\0w'],
  ['an escape sequence', '\u001b[2K'],
  ['a mark that turns the direction of text', 'a\u202eb'],
  ['half a character', 'a\ud800'],
] as const)
  t.test(`a request with ${title} is refused`, async (t) => {
    t.same(errorsOf(value), [
      `metadata.annotations[${KEY}] contains a control character or half a character; ${ADVICE}`,
    ])
  })
