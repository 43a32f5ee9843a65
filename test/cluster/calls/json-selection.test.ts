import t from 'tap'
import { parseSelected, type Selection } from '../../../functions/cluster/calls/json-selection.ts'
import { elements, isRecord } from '../../../functions/domain/json-value.ts'
import fc from '../../harness/fast-check.ts'

const ROW: Selection = { members: { name: 'whole', of: { members: { size: 'whole' } } } }

for (const [text, selection, value] of [
  ['{"a":1,"b":[{"c":"]}"}]}', 'whole', { a: 1, b: [{ c: ']}' }] }],
  [
    ' {"name" : "a\\"b" ,"more":{"name":"x"}, "of":{"x":{},"size":2}}\n',
    ROW,
    { name: 'a"b', of: { size: 2 } },
  ],
  ['{"namely":1,"nam":2,"other":"name","name":null}', ROW, { name: null }],
  ['{"name":1,"name":2}', ROW, { name: 2 }],
  ['{"x":{"name":1},"y":"\\\\","z":[1,[2]]}', ROW, {}],
  ['{}', ROW, {}],
  ['{"of":[1]}', ROW, { of: undefined }],
  ['{"of":"text"}', ROW, { of: 'text' }],
  ['[]', ROW, undefined],
  ['null', ROW, null],
  ['[{"name":"a"},{"more":1},7, []]', { elements: ROW }, [{ name: 'a' }, {}, 7, undefined]],
  ['[ ]', { elements: 'whole' }, []],
  ['{}', { elements: 'whole' }, undefined],
  ['[ {"more":"12345"} ]', { elements: { measured: ROW } }, [{ selected: {}, length: 16 }]],
] as const satisfies readonly (readonly [string, Selection, unknown])[])
  t.test(`${JSON.stringify(selection)} of ${text}`, async (t) =>
    t.same(parseSelected(text, selection), value),
  )

t.test('what is not JSON, or was cut, is an error', async (t) => {
  for (const text of [
    '',
    '<html>',
    '{',
    '{"a"',
    '{"a":',
    '{"name":1',
    '{"name":1,',
    '{"name" 1}',
    '{name:1}',
    '{"a":1}x',
    '{"name":}',
    '{"a":1 "b":2}',
    '"a',
  ])
    // prettier-ignore
    t.throws(() => parseSelected(text, ROW), SyntaxError, text)
  for (const text of ['[', '[1', '[1,', '[1,2', '[1]]', '[1 2]', '[,]'])
    t.throws(() => parseSelected(text, { elements: 'whole' }), SyntaxError, text)
})

t.test('a member is the same as in the whole value, whatever is around it', async (t) => {
  const members = fc.record({ name: fc.jsonValue(), of: fc.dictionary(fc.string(), fc.jsonValue()) })
  const rest = fc.dictionary(fc.string(), fc.jsonValue())
  const property = fc.property(
    fc.array(fc.tuple(members, rest)),
    fc.constantFrom('', ' ', '\n\t'),
    (list, blanks) => {
      const rows = list.map(([known, more]) => ({ ...more, ...known }))
      const text = JSON.stringify(rows, undefined, blanks)
      const selected = elements(
        parseSelected(text, { elements: { members: { name: 'whole', of: 'whole' } } }),
      )
      t.same(parseSelected(text, 'whole'), rows)
      t.same(selected, rows.map(({ name, of }) => ({ name, of }))) // prettier-ignore
      t.ok(selected.every(isRecord))
    },
  )
  fc.assert(property, { numRuns: 30 })
})
