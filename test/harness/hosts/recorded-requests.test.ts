import t from 'tap'
import { HOSTS } from '../../../functions/domain/repository/hosts.ts'
import { dialectOf } from '../../providers/contract/rows.ts'
import { readRequests, recordedRequests } from './recorded-requests.ts'
import type { RecordedRequest } from './recorded-requests.ts'
import { requestCheck } from './request-check.ts'

/** The field that a complaint names, by the checker's own words. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/^There is no path /, 'path'],
  [/^There is no method /, 'method'],
  [/: (?:it takes no body|the body is missing)\.$/, 'body'],
  [/: it does not take a body of type /, 'content-type'],
  [/: it knows no field (\S+)\.$/, 'body /$1'],
  [/: the body (?:(\/\S+) )?must have required property '(.+)'\.$/, 'body $1/$2'],
  [/: the body (\/\S+) /, 'body $1'],
  [/: the body /, 'body'],
  [/: (\S+) in the (path|query) /, '$2 $1'],
  [/: it knows no (\S+) in the query\.$/, 'query $1'],
  [/: (\S+) is (?:missing )?in the query/, 'query $1'],
]

function fieldOf(complaint: string): string {
  for (const [pattern, replacement] of NAMED) {
    const match = pattern.exec(complaint)
    if (match !== null)
      return replacement.replaceAll(/\$(\d)/g, (_, group: string) => match[Number(group)] ?? '')
  }
  return complaint
}

function agrees({ refusedFor, varied }: RecordedRequest, found: readonly string[]): boolean {
  const [field = ''] = refusedFor
  if (!varied || field === '') return found.toSorted().join(', ') === refusedFor.join(', ')
  return found.length > 0 && found.every((one) => isWithin(one, field) || isWithin(field, one))
}

function isWithin(one: string, other: string): boolean {
  return one === other || (other.startsWith('body /') && one.startsWith(`${other}/`))
}

for (const { name } of HOSTS) {
  t.test(`${name} allows and refuses what was recorded`, async (t) => {
    const dialect = await dialectOf(name)
    const check = requestCheck(dialect?.operations ?? {}, dialect?.aliases)
    const requests = recordedRequests(name)
    const wrong = requests.flatMap((one) => {
      const complaints = check.complaints(one.request)
      const found = [...new Set(complaints.map(fieldOf))]
      return agrees(one, found) ? [] : [`${one.title} => ${found.join(', ')}`]
    })
    t.strictSame(wrong, [])
    t.ok(requests.length >= 20, `${requests.length} requests`)
  })
}

t.test('each line is one request, or what one field of the allowed request above it may be', async (t) => {
  const lines = [
    '# POST /a/{b}',
    '+ POST /a/b?c=1 {"e":[{"g":2}]}',
    '  query c: + 2 - ""',
    '  body e/0/f: - 7',
    '  path b: + x',
    '- POST /a/b [text/plain] => body, query c',
  ]
  const found = readRequests(lines.join('\n'))
  t.strictSame(
    found.map(({ request: { method, path, query, body }, refusedFor }) => {
      return [`${method} ${path}?${query.toString()}`, body, refusedFor]
    }),
    [
      ['POST /a/b?c=1', { e: [{ g: 2 }] }, []],
      ['POST /a/b?c=2', { e: [{ g: 2 }] }, []],
      ['POST /a/b?c=', { e: [{ g: 2 }] }, ['query c']],
      ['POST /a/b?c=1', { e: [{ g: 2, f: 7 }] }, ['body /e/0/f']],
      ['POST /a/x?c=1', { e: [{ g: 2 }] }, []],
      ['POST /a/b?', undefined, ['body', 'query c']],
    ],
  )
})

t.test('a line that is neither, or has nothing above it, is an error', async (t) => {
  t.throws(() => readRequests('GET /a'), /No allowed request/)
  t.throws(() => readRequests('+ GET /a\n  query c'), /neither/)
})
