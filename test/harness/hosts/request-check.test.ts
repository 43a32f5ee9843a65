import t from 'tap'
import { commaList, either, INTEGER, listOf, oneOf, openObject, TEXT } from './field-types.ts'
import { operationsOf } from './operations.ts'
import type { OperationTable } from './operations.ts'
import { requestCheck } from './request-check.ts'
import type { HostRequest } from './request-check.ts'

const TABLE: OperationTable = {
  'GET /things/{one}/{two}': { statuses: [200] },
  'GET /things/{number:integer}': {
    query: { state: oneOf('open closed'), ids: commaList(INTEGER), words: listOf(TEXT), from: TEXT },
    needs: 'from',
    statuses: [200, 404],
    shows: openObject({ title: TEXT }, 'title'),
  },
  'POST /things.all/{rest:segments}': {
    body: { title: TEXT, size: either(INTEGER, TEXT) },
    bodyRequired: true,
    alsoTakes: 'text/plain',
    needs: 'title',
    statuses: [201],
  },
}
const CHECK = requestCheck(TABLE, [{ from: /^\/t\//, to: '/things/' }])

function requestOf(line: string, body?: unknown, contentType = 'application/json'): HostRequest {
  const [, method = '', path = '', query = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(line) ?? []
  return {
    method,
    path,
    query: new URLSearchParams(query),
    contentType: body === undefined ? undefined : contentType,
    body,
  }
}

const ALLOWED: readonly HostRequest[] = [
  requestOf('GET /things/7?from=a&state=open&ids=1,2&words=a&words=b'),
  requestOf('GET /t/7?from=a&words[]=a&words[]=b'),
  requestOf('POST /things.all/a/b%2Fc', { title: 'a', size: 1 }),
  requestOf('POST /things.all/a', { title: 'a' }, 'text/plain; charset=utf-8'),
]

const REFUSED: readonly (readonly [HostRequest, string])[] = [
  [requestOf('GET /nothing'), 'There is no path /nothing.'],
  [requestOf('POST /thingsXall/a', {}), 'There is no path /thingsXall/a.'],
  [requestOf('PUT /things/7'), 'There is no method PUT for /things/{number}.'],
  [requestOf('GET /things/seven?from=a'), 'GET /things/{number}: number in the path must be integer.'],
  [
    requestOf('GET /things/%zz?from=a'),
    'GET /things/{number}: number in the path is not percent-encoded as it should be.',
  ],
  [requestOf('GET /things/7'), 'GET /things/{number}: from is missing in the query.'],
  [requestOf('GET /things/7?from=a&from=b'), 'GET /things/{number}: from is in the query more than once.'],
  [requestOf('GET /things/7?from=a&b=c'), 'GET /things/{number}: it knows no b in the query.'],
  [
    requestOf('GET /things/7?from=a&state=x'),
    'GET /things/{number}: state in the query must be equal to one of the allowed values (open, closed).',
  ],
  [requestOf('GET /things/7?from=a', {}), 'GET /things/{number}: it takes no body.'],
  [requestOf('POST /things.all/a'), 'POST /things.all/{rest}: the body is missing.'],
  [
    requestOf('POST /things.all/a', {}),
    "POST /things.all/{rest}: the body must have required property 'title'.",
  ],
  [
    requestOf('POST /things.all/a', { title: 'a', name: 'b' }),
    'POST /things.all/{rest}: it knows no field name.',
  ],
  [requestOf('POST /things.all/a', { title: 7 }), 'POST /things.all/{rest}: the body /title must be string.'],
  [
    requestOf('POST /things.all/a', { title: 'a' }, 'text/html'),
    'POST /things.all/{rest}: it does not take a body of type text/html.',
  ],
]

t.test('what the table names is allowed, and everything else is refused in one sentence', async (t) => {
  for (const request of ALLOWED) t.strictSame(CHECK.complaints(request), [], request.path)
  for (const [request, sentence] of REFUSED) t.strictSame(CHECK.complaints(request), [sentence])
})

t.test('an answer has a status of the table, and the fields of the table', async (t) => {
  const request = requestOf('GET /things/7')
  t.strictSame(CHECK.answerComplaints(request, 200, { title: 'a', other: 1 }), [])
  t.match(CHECK.answerComplaints(request, 200, {}), [/required property 'title'/])
  t.strictSame(CHECK.answerComplaints(request, 404, 'anything'), [])
  t.match(CHECK.answerComplaints(request, 418, {}), [/does not answer with that status/])
  t.match(CHECK.answerComplaints(requestOf('GET /nowhere'), 200, {}), [/There is no path/])
})

t.test('the path with the fewest names comes first', async (t) => {
  const found = operationsOf(TABLE).map(({ method, template }) => `${method} ${template}`)
  t.strictSame(found, ['GET /things/{number}', 'POST /things.all/{rest}', 'GET /things/{one}/{two}'])
})
