import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { parseJSONText } from '../../../functions/domain/manifest/json-text.ts'
import type { JSONNode } from '../../../functions/domain/manifest/json-node.ts'
import { toYAML, writeYAML } from '../../../functions/domain/manifest/yaml-text.ts'
import { compactJSON, nastyNode } from '../fixtures/nasty.ts'
import { AMBIGUOUS, CONTROLS, LINES, shown, SYNTAX } from '../fixtures/traps.ts'
import { expected, hasPyYAML, readByPackage, readByPyYAML, type Tagged } from '../fixtures/yaml-readers.ts'
import { sized } from '../../harness/sample.ts'

const KNOWN = [...AMBIGUOUS, ...SYNTAX, ...CONTROLS, ...LINES]

/** A string in every position where one is possible. */
function everywhere(text: string): JSONNode {
  const member: JSONNode = new Map([[text, text]])
  return new Map<string, JSONNode>([
    ['value', text],
    [text, [text, [text, [text]], member, new Map([['a', member]])]],
    ['last', new Map([['deeper', text]])],
  ])
}

function sameAs(node: JSONNode, found: Tagged): boolean {
  return JSON.stringify(found) === JSON.stringify(expected(node))
}

t.test('a document looks like what kubectl prints', (t) => {
  const object = parseJSONText(`{
    "apiVersion": "apps/v1", "kind": "Deployment", "10": 1, "9": 2,
    "spec": {
      "replicas": 3, "ratio": 0.5, "paused": false, "none": null, "empty": {}, "nothing": [],
      "args": ["--flag", "yes", "a: b", "tab\\there", ["nested", ["deeper"]], [], {}],
      "containers": [{"name": "x", "env": [{"name": "A", "value": "1"}], "limits": {"cpu": "100m"}}, {"name": "y"}],
      "script": "set -e\\n\\nrun  \\n", "indented": "  a\\nb", "blank": "x\\n\\n"
    }
  }`)
  t.equal(
    toYAML(object),
    `apiVersion: apps/v1
kind: Deployment
"10": 1
"9": 2
spec:
  replicas: 3
  ratio: 0.5
  paused: false
  none: null
  empty: {}
  nothing: []
  args:
  - --flag
  - "yes"
  - 'a: b'
  - "tab\\there"
  - - nested
    - - deeper
  - []
  - {}
  containers:
  - name: x
    env:
    - name: A
      value: "1"
    limits:
      cpu: 100m
  - name: "y"
  script: |
    set -e

    run${'  '}
  indented: |2-
      a
    b
  blank: |+
    x

`,
  )
  t.end()
})

t.test('any value can be the document', (t) => {
  const cases: readonly (readonly [JSONNode, string])[] = [
    ['a\nb\n', '"a\\nb\\n"\n'],
    ['---', "'---'\n"],
    [{ digits: '1e3' }, '1.0e+3\n'],
    [null, 'null\n'],
    [new Map(), '{}\n'],
    [[], '[]\n'],
    [[['a', []], 'b'], '- - a\n  - []\n- b\n'],
  ]
  for (const [node, text] of cases) t.equal(toYAML(node), text, text)
  t.end()
})

t.test('a key of more than 1,000 characters is written in the explicit form', (t) => {
  const long = 'k'.repeat(1_001)
  const values: readonly (readonly [JSONNode, string])[] = [
    ['v', ' v\n'],
    ['a\nb', ' |-\n    a\n    b\n'],
    [['v'], '\n  - v\n'],
    [new Map([['a', 'v']]), '\n    a: v\n'],
  ]
  for (const [value, text] of values) {
    const node: JSONNode = new Map([['m', new Map([[long, value]])]])
    t.equal(toYAML(node), `m:\n  ? ${long}\n  :${text}`)
    for (const version of ['1.1', '1.2'] as const)
      t.ok(sameAs(node, readByPackage(toYAML(node), version)), version)
  }
  t.equal(toYAML(new Map([['k'.repeat(1_000), 'v']])), `${'k'.repeat(1_000)}: v\n`)
  t.end()
})

for (const version of ['1.1', '1.2'] as const) {
  t.test(`a reader of YAML ${version} reads the known traps as the same strings`, (t) => {
    for (const text of KNOWN) {
      const node = everywhere(text)
      t.strictSame(readByPackage(toYAML(node), version), expected(node), shown(text))
    }
    t.end()
  })

  t.test(`a reader of YAML ${version} reads any object as the same object`, (t) => {
    fc.assert(
      fc.property(nastyNode, (node) => sameAs(node, readByPackage(toYAML(node), version))),
      { numRuns: sized(40, 1_000) },
    )
    t.end()
  })
}

const skip = hasPyYAML() ? false : 'python3 with PyYAML is not installed, its reading was not checked'

t.test('PyYAML reads the known traps and any object as the same object', { skip }, (t) => {
  const seed = Date.now()
  const nodes = [...KNOWN.map(everywhere), ...fc.sample(nastyNode, { numRuns: sized(40, 800), seed })]
  const answers = readByPyYAML(nodes.map(toYAML))
  t.equal(answers.length, nodes.length, 'every document was read')
  const wrong = nodes.filter((node, at) => !answers[at]!.every((answer) => sameAs(node, answer)))
  t.strictSame(wrong.map(compactJSON).map(shown), [], `seed ${seed}`)
  t.end()
})

t.test('the same value has the same bytes, also when it was read again', (t) => {
  fc.assert(
    fc.property(nastyNode, (node) => {
      const text = toYAML(node)
      return toYAML(node) === text && toYAML(parseJSONText(compactJSON(node))) === text
    }),
  )
  t.end()
})

t.test('a value that occurs twice is written twice, without an anchor', (t) => {
  const shared: JSONNode = new Map([['a', ['b']]])
  t.equal(toYAML([shared, shared]), '- a:\n  - b\n- a:\n  - b\n')
  t.end()
})

t.test('deep nesting is written and read back', (t) => {
  const text = '{"a":['.repeat(60) + '"x\\ny"' + ']}'.repeat(60)
  const node = parseJSONText(text)
  t.strictSame(readByPackage(toYAML(node), '1.2'), expected(node))
  t.end()
})

t.test('writing stops where the consumer throws, before the whole text was made', (t) => {
  const node = parseJSONText('{"a":'.repeat(900) + `[${'"leaf",'.repeat(60_000)}"leaf"]` + '}'.repeat(900))
  let written = 0
  const take = (piece: string): void => {
    written += piece.length
    if (written > 1_000_000) throw new Error('enough')
  }
  t.throws(() => writeYAML(node, take), { message: 'enough' })
  t.ok(written < 1_010_000, `${written} characters`)
  t.end()
})
