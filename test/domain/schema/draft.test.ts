import t from 'tap'
import { draftOf, usable } from '../../../functions/domain/schema/draft.ts'
import { GITCOMMIT_SPEC } from '../../../functions/domain/crd/git-commit.ts'
import type { GitCommitSpec } from '../../../functions/domain/spec/spec.ts'
import type { Schema } from '../../../functions/domain/crd/schema.ts'
import { SPEC } from '../fixtures/gitcommit.ts'

const TEXT: Schema = { type: 'string', description: 'd', minLength: 1, maxLength: 3, pattern: '^a' }
const LIST: Schema = { type: 'array', description: 'd', maxItems: 2, items: TEXT }
const FLAG: Schema = { type: 'boolean', description: 'd' }
const INNER: Schema = { type: 'object', description: 'd', properties: { text: TEXT } }
const OBJECT: Schema = {
  type: 'object',
  description: 'd',
  properties: { text: TEXT, list: LIST, flag: FLAG, inner: INNER },
}

for (const [title, value, expected] of [
  ['a text that is too long is there, but cannot be read', { text: 'abcd' }, { text: null }],
  [
    'a text need not fit its pattern, or be of any length',
    { text: 'x', inner: { text: '' } },
    { text: 'x', inner: { text: '' } },
  ],
  [
    'what is of another type is there, too',
    { text: 5, list: 'a', flag: 'x', inner: [] },
    { text: null, list: null, flag: null, inner: null },
  ],
  ['null is present', { text: null }, { text: null }],
  ['a field that is not written is not there', { text: undefined }, {}],
  ['a field that nobody knows is left out', { other: 'x', flag: true }, { flag: true }],
  ['of a list there is as much as is allowed', { list: ['a', 5, 'b'] }, { list: ['a', null] }],
] as const) {
  t.test(title, async (t) => {
    t.strictSame(usable(value, OBJECT), expected)
  })
}

t.test('what is no object has no draft', async (t) => {
  for (const value of [undefined, null, 5, 'x', []])
    t.equal(draftOf<GitCommitSpec>(value, GITCOMMIT_SPEC), undefined)
})

t.test('a valid value is its own draft', async (t) => {
  t.strictSame(draftOf<GitCommitSpec>(SPEC, GITCOMMIT_SPEC), SPEC)
})

t.test('what comes from Object.prototype is ignored', async (t) => {
  const schema: Schema = { ...OBJECT, properties: { toString: TEXT } }
  t.strictSame(usable({}, schema), {})
  t.strictSame(usable(JSON.parse('{"__proto__":{"text":"abc"}}'), OBJECT), {})
})

t.test('a list of a million entries is cut before it is checked', async (t) => {
  const list = new Proxy(new Array(1_000_000).fill('a'), {
    get(target, key, receiver) {
      if (typeof key === 'string' && Number(key) >= 2) t.fail(`entry ${key} was read`)
      const found: unknown = Reflect.get(target, key, receiver)
      return found
    },
  })
  t.strictSame(usable({ list }, OBJECT), { list: ['a', 'a'] })
})
