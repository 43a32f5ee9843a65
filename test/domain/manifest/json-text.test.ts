import { isDeepStrictEqual } from 'node:util'
import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { DEPTH_LIMIT, parseJSONText, writeJSON } from '../../../functions/domain/manifest/json-text.ts'
import { isMapping, isSequence, type JSONNode } from '../../../functions/domain/manifest/json-node.ts'
import { compactJSON, nastyNode } from '../fixtures/nasty.ts'
import { shown } from '../fixtures/traps.ts'
import { expected } from '../fixtures/yaml-readers.ts'
import { sized } from '../../harness/sample.ts'

function toJSON(node: JSONNode): string {
  const pieces: string[] = []
  writeJSON(node, (piece) => pieces.push(piece))
  return pieces.join('')
}

/** The value that JSON.parse would return for the text. */
function plain(node: JSONNode): unknown {
  if (isSequence(node)) return node.map(plain)
  if (isMapping(node)) return Object.fromEntries([...node].map(([key, value]) => [key, plain(value)]))
  return typeof node === 'object' && node !== null ? Number(node.digits) : node
}

function native(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'refused'
  }
}

function ours(text: string): unknown {
  try {
    return plain(parseJSONText(text))
  } catch {
    return 'refused'
  }
}

t.test('keys keep their order, digit-like and special ones too', (t) => {
  const node = parseJSONText('{"b":1,"10":2,"9":3,"__proto__":4,"":5,"a":6}')
  t.ok(isMapping(node))
  t.same(isMapping(node) && [...node.keys()], ['b', '10', '9', '__proto__', '', 'a'])
  t.end()
})

t.test('numbers keep their digits', (t) => {
  const digits = ['9223372036854775807', '-0', '1.50', '1e+21', '123456789012345678901234567890', '0.1E-5']
  t.same(
    parseJSONText(`[${digits.join()}]`),
    digits.map((text) => ({ digits: text })),
  )
  t.end()
})

t.test('of equal keys the last one wins', (t) => {
  t.same(expected(parseJSONText('{"a":1,"b":2,"a":3}')), {
    members: [
      ['sa', 'i3'],
      ['sb', 'i2'],
    ],
  })
  t.end()
})

t.test('half a surrogate pair becomes the replacement character', (t) => {
  t.equal(parseJSONText('"a\\ud83dz"'), 'a\ufffdz')
  t.equal(parseJSONText('"\\ud83d\\ude00"'), '😀')
  t.end()
})

t.test('what is not JSON is refused with one sentence that holds none of it', (t) => {
  const objects = '{"a"}|{"a":}|{"a":1,}|{a:1}|{1:2}|{"a":1 "b":2}|{"a":1|{} x|\ufeff{}|\u00a0{}'
  const others = '|nul|undefined|NaN|\'a\'|"a|"a\\"|"\\x41"|"\n"|"a"b|[1,]|[1 2]|[1|]|01|1.|.5|+1|-|1e| '
  const cases = [...`${objects}|${others}`.split('|'), '<html><body>hunter2']
  for (const text of cases) {
    t.throws(
      () => parseJSONText(text, 'The answer'),
      {
        reason: 'ProviderUnavailable',
        message: /^The answer is not valid JSON .*character \d+ on\); ask [^.]+\.$/,
      },
      shown(text),
    )
  }
  t.throws(() => parseJSONText('<html>hunter2'), { message: /^(?!.*hunter2)The text is not/ })
  t.end()
})

t.test('nesting is read up to the limit and refused above it', (t) => {
  const nested = (depth: number): string => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
  t.equal(compactJSON(parseJSONText(nested(DEPTH_LIMIT))), nested(DEPTH_LIMIT))
  for (const depth of [DEPTH_LIMIT + 2, 10_000, 2_000_000]) {
    t.throws(
      () => parseJSONText(nested(depth)),
      { reason: 'NotSupported', message: /1000 levels/ },
      String(depth),
    )
  }
  t.throws(() => parseJSONText('['.repeat(10_000)), { message: /levels/ }, 'and never closed')
  t.end()
})

t.test('any value is the one that JSON.parse returns, and keeps its text', (t) => {
  fc.assert(
    fc.property(nastyNode, (node) => {
      const read = parseJSONText(compactJSON(node))
      return (
        JSON.stringify(expected(read)) === JSON.stringify(expected(node)) &&
        compactJSON(read) === compactJSON(node)
      )
    }),
  )
  fc.assert(
    fc.property(nastyNode, (node) => isDeepStrictEqual(ours(compactJSON(node)), native(compactJSON(node)))),
  )
  t.end()
})

t.test('a text that was cut or changed is accepted exactly where JSON.parse accepts it', (t) => {
  const change = fc.tuple(
    nastyNode,
    fc.nat(),
    fc.constantFrom('', ...Array.from('{}[],:"\\0-.eE \n\tx')),
    fc.nat(1),
  )
  fc.assert(
    fc.property(change, ([node, at, mark, cut]) => {
      const text = compactJSON(node)
      const place = at % (text.length + 1)
      const changed = `${text.slice(0, place)}${mark}${text.slice(place + cut)}`.toWellFormed()
      return isDeepStrictEqual(ours(changed), native(changed))
    }),
    { numRuns: sized(60, 2_000) },
  )
  t.end()
})

t.test('white space between the parts is skipped', (t) => {
  t.equal(
    compactJSON(parseJSONText(' \r\n\t{ "a" : [ 1 , { } , [ ] ] , "b" : "x" } \n')),
    '{"a":[1,{},[]],"b":"x"}',
  )
  t.end()
})

t.test('JSON is written with two-space indentation and a final newline', (t) => {
  const text = '{"b":[1,[],{},[[2.50]]],"10":{"x":"é\\n\\u0001"},"a":null,"c":true}'
  const indented = `{
  "b": [
    1,
    [],
    {},
    [
      [
        2.50
      ]
    ]
  ],
  "10": {
    "x": "é\\n\\u0001"
  },
  "a": null,
  "c": true
}
`
  t.equal(toJSON(parseJSONText(text)), indented)
  t.equal(toJSON([]), '[]\n')
  t.equal(toJSON('x'), '"x"\n')
  t.end()
})

t.test('any value that was written is read back with its digits, and written again as the same text', (t) => {
  fc.assert(
    fc.property(nastyNode, (node) => {
      const text = toJSON(node)
      const again = parseJSONText(text)
      return compactJSON(again) === compactJSON(node) && toJSON(again) === text
    }),
  )
  t.end()
})
