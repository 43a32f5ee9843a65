import t from 'tap'
import { boundedFirst, isLonger, withinBounds } from '../../functions/domain/schema-bounds.ts'
import type { Schema } from '../../functions/domain/schema-type.ts'

const TEXT: Schema = {
  type: 'string',
  description: 'd',
  expects: 'e',
  minLength: 1,
  maxLength: 3,
  pattern: '^a',
}
const LIST: Schema = { type: 'array', description: 'd', maxItems: 2, items: TEXT }
const OBJECT: Schema = { type: 'object', description: 'd', properties: { text: TEXT, list: LIST } }

t.test('a text that is too long is there, but cannot be read', async (t) => {
  t.same(withinBounds({ text: 'abcd', other: 'x', list: ['abcd'] }, OBJECT), { text: null, list: ['abcd'] })
  t.same(withinBounds({ text: 'abc' }, OBJECT), { text: 'abc' })
  for (const value of [undefined, null, 5, [], ['abcd']]) t.equal(withinBounds(value, OBJECT), value)
  t.equal(withinBounds('x'.repeat(9), { type: 'string', description: 'd' }), 'xxxxxxxxx')
})

t.test('what came from Object.prototype is not there', async (t) => {
  const schema: Schema = { ...OBJECT, properties: { toString: TEXT } }
  t.same(Object.keys(Object(withinBounds({}, schema))), [])
})

t.test('patterns and entries are looked at where the length is allowed', async (t) => {
  t.match(boundedFirst(OBJECT), {
    properties: {
      text: { maxLength: 3, if: { minLength: 1, maxLength: 3 }, then: { pattern: '^a', expects: 'e' } },
      list: { maxItems: 2, if: { maxItems: 2 }, then: { uniqueItems: false, items: { maxLength: 3 } } },
    },
  })
  t.notOk('pattern' in boundedFirst(TEXT))
  t.notOk('items' in boundedFirst(LIST))
})

t.test('characters are counted, not their halves', async (t) => {
  t.notOk(isLonger('\u{1f600}'.repeat(3), 3))
  t.ok(isLonger('\u{1f600}'.repeat(4), 3))
  t.ok(isLonger('abcd', 3))
  t.notOk(isLonger('abc', 3))
  t.ok(isLonger('', -1))
})
