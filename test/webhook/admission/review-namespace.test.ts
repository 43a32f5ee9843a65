import t from 'tap'
import { collect } from '../../harness/collect.ts'
import { namespaceIn } from '../../../webhook/admission/review-namespace.ts'
import fc from '../../harness/fast-check.ts'
import { sized } from '../../harness/sample.ts'
import { gitCommit, reviewOf } from '../stage.ts'

t.test('the namespace of the request is found, and no other one', async (t) => {
  t.equal(namespaceIn(JSON.stringify(reviewOf(gitCommit({ namespace: 'other' })))), 'shop')
  t.equal(namespaceIn(JSON.stringify(reviewOf({ namespace: 'other' }), null, '\t')), 'shop')
  t.equal(namespaceIn('{"request":{"object":{"namespace":"a"},"namespace":"b"},"namespace":"c"}'), 'b')
  t.equal(namespaceIn('{"request":{"a":"}\\"","b":[{"namespace":"x"}],"namespace":"b"'), 'b')
  t.equal(namespaceIn('{"request":{"namespace":"b","namespace":"c"}}'), 'b', 'the first of two')
})

for (const text of [
  '',
  '{}',
  '[]',
  'null',
  '{"request":[]}',
  '{"request":{"namespace":1}}',
  '{"request":{"name":"namespace"}}',
  '{"a":{"namespace":"b"}}',
  '{"request":{"a":{"namespace":"b"}}}',
  '{"request" {"namespace":"b"}}',
  '{request:{"namespace":"b"}}',
  '{"request":',
  '{"request":{"a',
  '{"request":{"namespace":""}}',
  '{"request":{"namespace":"Shop"}}',
  '{"request":{"namespace":"sh\\u006fp"}}',
  `{"request":{"namespace":"${'a'.repeat(254)}"}}`,
])
  t.test(`in ${text} there is none`, async (t) => t.equal(namespaceIn(text), undefined))

t.test('a name that is remembered keeps nothing of its text in memory', async (t) => {
  const textOf = (i: number): string =>
    JSON.stringify({ request: { namespace: `namespace-number-${i}`, object: 'x'.repeat(1024 * 1024) } })
  collect()
  const before = process.memoryUsage().heapUsed
  const names = Array.from({ length: 16 }, (_, i) => namespaceIn(textOf(i)))
  collect()
  const grown = (process.memoryUsage().heapUsed - before) / (1024 * 1024)
  t.equal(names.at(-1), 'namespace-number-15')
  t.ok(grown < 8, `${grown} MiB`)
})

t.test('wherever it stands, it is the one that JSON.parse finds', async (t) => {
  const member = fc.tuple(fc.constantFrom('uid', 'object', 'a"b', 'name'), fc.jsonValue({ maxDepth: 3 }))
  fc.assert(
    fc.property(
      fc.uniqueArray(member, { selector: ([key]) => key }),
      fc.uniqueArray(member, { selector: ([key]) => key }),
      fc.constantFrom(undefined, 1, '\t'),
      (before, after, space) => {
        const request = Object.fromEntries([
          ...before,
          ['namespace', 'shop'],
          ...after.map(([k, v]) => [`x${k}`, v]),
        ])
        const text = JSON.stringify({ ...Object.fromEntries(before), request }, null, space)
        t.equal(namespaceIn(text), 'shop', text)
      },
    ),
    { numRuns: sized(200, 5_000) },
  )
})
