import t from 'tap'
import { operationsOf } from './operations.ts'

const ANSWER = { responses: { 200: { $ref: '#/responses/Thing' } } }
const DOCUMENT = {
  'x-commitlet-base': '/api',
  paths: {
    '/api/{one}/{two}': { get: ANSWER },
    '/api/things/{one}': { parameters: [{ name: 'one', in: 'path' }], get: ANSWER, put: ANSWER },
  },
  responses: { Thing: { schema: { type: 'object' } } },
}

t.test('the most specific path comes first, below the base', async (t) => {
  const found = operationsOf(DOCUMENT).map(({ method, template }) => `${method} ${template}`)
  t.same(found, ['GET /things/{one}', 'PUT /things/{one}', 'GET /{one}/{two}'])
})

t.test('a variable segment takes no slash, and a dot stands for itself', async (t) => {
  const [{ pattern } = { pattern: /$/ }] = operationsOf({ paths: { '/a.b/{one}': { get: {} } } })
  t.match('/a.b/x%2Fy', pattern)
  t.notMatch('/a.b/x/y', pattern)
  t.notMatch('/aXb/x', pattern)
})

t.test('what belongs to all methods of a path belongs to each', async (t) => {
  t.match(operationsOf(DOCUMENT)[1]?.parameters, [{ name: 'one', place: 'path', required: false }])
})

t.test('a reference is followed, and one that leads nowhere is an error', async (t) => {
  t.same(operationsOf(DOCUMENT)[0]?.answers.get('200'), { type: 'object' })
  t.throws(() => operationsOf({ paths: DOCUMENT.paths }), /has nothing at #\/responses\/Thing/)
})
