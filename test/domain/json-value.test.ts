import fc from '../harness/fast-check.ts'
import t from 'tap'
import { elements, entries, member, sameJSON, textMember } from '../../functions/domain/json-value.ts'

t.test('only own members of objects are read', async (t) => {
  t.equal(member({ a: 1 }, 'a'), 1)
  t.equal(member({ a: 1 }, 'toString'), undefined)
  t.equal(member(JSON.parse('{"__proto__": {"a": 1}}'), 'a'), undefined)
  for (const value of [undefined, null, 'text', 7, [1]]) t.equal(member(value, 'length'), undefined)
})

t.test('what is not a list has no elements, and what is not an object has no entries', async (t) => {
  t.strictSame(elements([1, 'a']), [1, 'a'])
  t.strictSame(entries({ b: 1, a: 2 }), [
    ['b', 1],
    ['a', 2],
  ])
  for (const value of [undefined, null, 'text', 7]) t.strictSame([elements(value), entries(value)], [[], []])
  t.strictSame([elements({ 0: 'a' }), entries(['a'])], [[], []])
})

t.test('a text member is text or nothing', async (t) => {
  t.equal(textMember({ a: 'b' }, 'a'), 'b')
  t.equal(textMember({ a: 1 }, 'a'), undefined)
})

for (const [title, one, other, same] of [
  [
    'objects whose keys are in another order',
    { a: 1, b: [1, { c: null }] },
    { b: [1, { c: null }], a: 1 },
    true,
  ],
  ['a missing key', { a: 1 }, { a: 1, b: 2 }, false],
  ['another key', { a: 1 }, { b: 1 }, false],
  ['a prototype as a key', JSON.parse('{"__proto__": {}}'), { a: 1 }, false],
  ['another value far below', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
  ['a list and an object', [1], { 0: 1 }, false],
  ['lists in another order', [1, 2], [2, 1], false],
  ['null and an object', null, {}, false],
  ['text and number', '1', 1, false],
] as const) {
  t.test(`${title}: ${same ? 'equal' : 'different'}`, async (t) => {
    t.equal(sameJSON(one, other), same)
    t.equal(sameJSON(other, one), same)
  })
}

t.test('a value is equal to its own copy', async (t) => {
  const copies = fc.property(fc.jsonValue(), (value) => sameJSON(value, JSON.parse(JSON.stringify(value))))
  t.doesNotThrow(() => fc.assert(copies))
})

t.test('100,000 levels are compared without a crash', async (t) => {
  const nested = (core: string): unknown => JSON.parse('['.repeat(100_000) + core + ']'.repeat(100_000))
  t.equal(sameJSON(nested(''), nested('')), true)
  t.equal(sameJSON(nested(''), nested('1')), false)
})
