import t from 'tap'
import { countParts } from '../../../functions/domain/network/json-parts.ts'

for (const [text, parts] of [
  ['{"a":[{},{}],"b":"x,"}', 7],
  ['"text"', 1],
  ['', 1],
  ['["[{,\\",", "\\\\", 1]', 4],
  ['[[', 3],
  [']]]]', 1],
] as const)
  t.test(`${text} has ${parts} parts`, async (t) => t.equal(countParts(text, { parts: 7 }), parts))

t.test('lists that are wider than any that is read are not counted, wherever they are', async (t) => {
  for (const text of ['[1,2]', '[1,[2,3]]', '[[1,2],[3,4]]', '[[],{"a":1,"b":[2]}]', '],1,2'])
    t.type(countParts(text, { parts: 9, width: text.startsWith(']') ? 3 : 2 }), 'number', text)
  for (const text of ['[1,2,3]', '[[],[],4]', '[[1,2,3]]', '{"a":1,"b":[2],"c":3}', '[{"a":[1,2]},"x,",4]'])
    t.equal(countParts(text, { parts: 9, width: 2 }), undefined, text)
})

t.test('more parts, or more depth, than are read are not counted', async (t) => {
  t.equal(countParts('[1,2,3]', { parts: 4 }), 4)
  t.equal(countParts('[1,2,3]', { parts: 3 }), undefined)
  t.equal(countParts('[[]],[[]]', { parts: 9, depth: 2 }), 6)
  t.equal(countParts('[[{}]]', { parts: 9, depth: 2 }), undefined)
})

t.test('there are at least as many as JSON.parse makes values', async (t) => {
  for (const text of [
    '[]',
    '[{},[],"",null]',
    '{"a":1,"b":{"c":[true]}}',
    '[[[[]]]]',
    '{"a":{},"b":[1,2,3]}',
  ]) {
    let values = 0
    JSON.parse(text, (_key, value: unknown) => {
      values += 1
      return value
    })
    t.ok((countParts(text, { parts: 100 }) ?? 0) >= values, text)
  }
})
