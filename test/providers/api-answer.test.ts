import t from 'tap'
import { parseAnswer, retryAfterOf, textOf } from '../../functions/providers/api-answer.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'
import { atOnce } from '../../functions/http/share.ts'

t.test(
  'an answer is read whatever its content type, and an implausibly large one is not parsed',
  async (t) => {
    const bodies: readonly (readonly [string | null, unknown])[] = [
      ['{"number":1}', { number: 1 }],
      ['Retry later', 'Retry later'],
      [null, ''],
      ['['.repeat(1_000), undefined],
      [`[${'{},'.repeat(100_000)}{}]`, undefined],
    ]
    for (const [body, data] of bodies) {
      const headers = { 'content-type': 'text/html', 'retry-after': '9' }
      const answer = await parseAnswer(new Response(body, { status: 404, headers }), { share: atOnce })
      t.strictSame([answer.status, answer.data], [404, data])
      t.equal(answer.headers.get('Retry-After'), '9')
    }
  },
)

const NOW = 'Sat, 21 Nov 2026 12:00:00 GMT'
const NOW_S = Date.parse(NOW) / 1000

function retryAfter(headers: Record<string, string>): number | undefined {
  return retryAfterOf({ status: 429, headers: new Headers(headers), data: '' }, 'x-reset')
}

const FIELDS: readonly (readonly [Record<string, string>, number | undefined, string])[] = [
  [{ 'retry-after': '90' }, 90, 'seconds'],
  [{ 'retry-after': ' 90 ' }, 90, 'blanks around'],
  [{ 'retry-after': '0' }, 1, 'at least one'],
  [{ 'retry-after': '7200' }, 3_600, 'at most an hour'],
  [{ 'retry-after': '9'.repeat(400) }, 3_600, 'a million years'],
  [{ 'retry-after': 'Sat, 21 Nov 2026 12:01:30 GMT', date: NOW }, 90, "a date, by the host's own clock"],
  [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT', date: NOW }, 1, 'a date that is over'],
  [{ 'retry-after': 'Fri, 01 Jan 9999 00:00:00 GMT', date: NOW }, 3_600, 'a date far away'],
  [{ 'retry-after': 'Sat, 21 Nov 2026 12:01:30 GMT' }, undefined, 'a date, but no clock'],
  [{ 'retry-after': '-5', date: NOW }, undefined, 'less than nothing'],
  [{ 'retry-after': '1e3', date: NOW }, undefined, 'no whole number'],
  [{ 'retry-after': 'soon', date: NOW }, undefined, 'no date'],
  [{ 'x-reset': String(NOW_S + 90), date: NOW }, 90, 'a reset'],
  [{ 'x-reset': String(NOW_S - 90), date: NOW }, 1, 'a reset that is over'],
  [{ 'x-reset': '999999999999', date: NOW }, 3_600, 'a reset far away'],
  [{ 'x-reset': String(NOW_S + 90) }, undefined, 'a reset, but no clock'],
  [{ 'x-reset': '-1', date: NOW }, undefined, 'a reset before all time'],
  [{ 'x-reset': '1'.repeat(400), date: NOW }, undefined, 'a reset after all time'],
  [{ 'x-reset': String(NOW_S + 90), date: 'noon' }, undefined, 'a clock that cannot be read'],
  [{ 'retry-after': '5', 'x-reset': String(NOW_S + 90), date: NOW }, 5, 'both'],
  [{ 'retry-after': 'soon', 'x-reset': String(NOW_S + 90), date: NOW }, 90, 'both, one of them not readable'],
  [{ date: NOW }, undefined, 'nothing'],
]

for (const [headers, seconds, title] of FIELDS)
  t.test(`${title}: ${seconds ?? 'not known'}`, async (t) => t.equal(retryAfter(headers), seconds))

t.test('a reset counts only where its header is named', async (t) => {
  const headers = new Headers({ 'x-reset': String(NOW_S + 90), date: NOW })
  t.equal(retryAfterOf({ status: 429, headers, data: '' }, undefined), undefined)
})

const TEXTS: readonly (readonly [unknown, string | undefined])[] = [
  ['Retry later\n', 'Retry later\n'],
  ['  <html>', undefined],
  [{ message: 'No.' }, 'No.'],
  [{ error: 'No.' }, 'No.'],
  [{ message: 'No.', error: 'other' }, 'No.'],
  [{ message: ['One.', 'Two.', 3, null] }, 'One.; Two.'],
  [
    { message: { source_branch: ['does not exist'], title: ['is long'] } },
    'source_branch: does not exist; title: is long',
  ],
  [
    { type: 'error', error: { message: 'No.', fields: { source: ['x'] } } },
    'message: No.; fields: source: x',
  ],
  [{ message: '' }, undefined],
  [{ message: 5 }, undefined],
  [{}, undefined],
  [[], undefined],
  [null, undefined],
  [undefined, undefined],
]

t.test("the host's message is found wherever hosts put it", async (t) => {
  for (const [data, text] of TEXTS) t.equal(textOf(data), text, JSON.stringify(data))
})

t.test('an answer of any depth or width is read quickly', async (t) => {
  const began = cpuTime()
  const deep: unknown = JSON.parse('['.repeat(500_000) + ']'.repeat(500_000))
  t.equal(textOf({ message: deep }), undefined)
  t.equal(textOf({ message: Array.from({ length: 1_000_000 }, () => 'x') }), Array(10).fill('x').join('; '))
  t.ok(cpuTime() - began < allowedMs(200))
})
