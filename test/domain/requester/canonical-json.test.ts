import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { canonicalJSON } from '../../../functions/domain/requester/canonical-json.ts'
import { isRecord, sameJSON } from '../../../functions/domain/json-value.ts'

for (const [title, json, canonical] of [
  ['members are in the order of their names', '{"b":1,"a":{"d":2,"c":3}}', '{"a":{"c":3,"d":2},"b":1}'],
  ['digits are names like others', '{"b":0,"10":1,"9":2,"":3}', '{"":3,"10":1,"9":2,"b":0}'],
  [
    'names are ordered by UTF-16 units',
    '{"\\ufb33":1,"\\ud83d\\ude00":2,"\\u00e9":3}',
    '{"é":3,"😀":2,"\ufb33":1}',
  ],
  ['lists keep their order', '[3,[2,{}],[],1]', '[3,[2,{}],[],1]'],
  [
    'null, false and text are what they are',
    '{"a":null,"b":false,"c":"","d":"null"}',
    '{"a":null,"b":false,"c":"","d":"null"}',
  ],
  ['numbers have one text', '[1.0,1e2,-0,1E21,0.1]', '[1,100,0,1e+21,0.1]'],
  ['text is escaped as little as can be', '"\\u0041\\/\\n\\u2028\\u0001é"', '"A/\\n\u2028\\u0001é"'],
  ['half a character stays distinct', '"\\ud800"', '"\\ud800"'],
  [
    'names of the prototype are members',
    '{"toString":1,"__proto__":{"b":1,"a":2}}',
    '{"__proto__":{"a":2,"b":1},"toString":1}',
  ],
] as const) {
  t.test(title, async (t) => t.equal(canonicalJSON(JSON.parse(json)), canonical))
}

t.test('a member that is undefined is left out', async (t) => {
  t.equal(canonicalJSON({ b: undefined, a: 1, c: undefined }), '{"a":1}')
})

/** The same value, its members in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, turned(member)]),
  )
}

t.test('it is read as the same value, and the order of members does not count', async (t) => {
  const property = fc.property(fc.jsonValue(), (value) => {
    const canonical = canonicalJSON(value)
    return sameJSON(JSON.parse(canonical), value) && canonicalJSON(turned(value)) === canonical
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }))
})

t.test('other values have other texts', async (t) => {
  const property = fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
    return (canonicalJSON(one) === canonicalJSON(other)) === sameJSON(one, other)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }))
})

t.test('any depth is possible', async (t) => {
  const depth = 100_000
  const deep = `${'{"a":['.repeat(depth)}${']}'.repeat(depth)}`
  t.ok(canonicalJSON(JSON.parse(deep)) === deep)
})
