import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import { missingFieldFailure, readField } from '../../../functions/domain/field-path/read-field.ts'
import { isMapping, isSequence, type JSONNode } from '../../../functions/domain/manifest/json-node.ts'
import { parseJSONText } from '../../../functions/domain/manifest/json-text.ts'
import { compactJSON, nastyNode } from '../fixtures/nasty.ts'

const OBJECT = parseJSONText(`{
  "data": {"values.yaml": "a: 1\\n", "other": "secret value"},
  "spec": {"replicas": 12345678901234567890, "none": null, "empty": {},
    "containers": [{"name": "app", "image": "x"}, {"name": "twin", "port": 1e1}, {"name": "twin"}, 5]}
}`)

function shown(path: string): string {
  const lookup = readField(OBJECT, parseFieldPath(path))
  return lookup.found
    ? compactJSON(lookup.value)
    : missingFieldFailure(parseFieldPath(path), lookup, 'The object').message
}

const FOUND: readonly (readonly [string, string])[] = [
  ['.data["values.yaml"]', '"a: 1\\n"'],
  ['.spec.replicas', '12345678901234567890'],
  ['.spec.none', 'null'],
  ['.spec.empty', '{}'],
  ['.spec.containers[3]', '5'],
  ['.spec.containers[?(@.name=="app")].image', '"x"'],
  ['.spec.containers[?(@.port==10)].name', '"twin"'],
]

for (const [path, value] of FOUND) {
  t.test(`${path} is found`, async (t) => t.equal(shown(path), value))
}

const MISSING: readonly (readonly [string, string])[] = [
  ['.data.values', 'the keys at step 1 are "values.yaml", "other"'],
  ['.nothing.at.all', 'the keys at the top are "data", "spec"'],
  ['.spec.empty.x', 'the mapping at step 2 is empty'],
  ['.spec.replicas.x', 'there is a single value at step 2'],
  ['.spec.none.x', 'there is a single value at step 2'],
  ['.spec.containers[4]', 'there is a list of 4 items at step 2'],
  ['.spec.containers.name', 'there is a list of 4 items at step 2'],
  ['.spec[0]', 'the keys at step 1 are "replicas"'],
  ['.spec.containers[?(@.name=="nobody")]', 'there is a list of 4 items at step 2'],
  ['.spec.containers[?(@.name=="twin")].image', '2 items of the list at step 2 match'],
  ['.toString', 'the keys at the top'],
]

for (const [path, said] of MISSING) {
  t.test(`${path} is missing, and the names that are there are shown`, async (t) => {
    t.match(shown(path), said)
    t.notMatch(shown(path), 'secret value')
  })
}

t.test('a missing field is ReferenceNotFound, with few and short names', async (t) => {
  const many = new Map(Array.from({ length: 500 }, (_, at) => [`${at}${'k'.repeat(2_000)}`, 'v']))
  const path = parseFieldPath('.x')
  const lookup = readField(many, path)
  if (lookup.found) throw new Error('found')
  const failure = missingFieldFailure(path, lookup, 'ConfigMap a')
  t.equal(failure.reason, 'ReferenceNotFound')
  t.match(failure.message, /^ConfigMap a has no field \.x: .* and 480 more; correct the field\.$/)
  t.ok(failure.message.length < 2_000, `${failure.message.length} characters`)
})

/** The way to any one value of a tree. */
function pathsOf(node: JSONNode): readonly (readonly [string, JSONNode])[] {
  const inner = (step: string, value: JSONNode): readonly (readonly [string, JSONNode])[] => [
    [step, value],
    ...pathsOf(value).map(([path, found]) => [step + path, found] as const),
  ]
  if (isSequence(node)) return node.flatMap((item, at) => inner(`[${at}]`, item))
  if (isMapping(node)) return [...node].flatMap(([key, value]) => inner(`[${JSON.stringify(key)}]`, value))
  return []
}

t.test('every value of any tree is found by its path', async () => {
  fc.assert(
    fc.property(nastyNode, (node) => {
      for (const [text, value] of pathsOf(node)) {
        if (text.length > 1_024 || !text.isWellFormed()) continue
        const lookup = readField(node, parseFieldPath(text))
        if (!lookup.found || lookup.value !== value) return false
      }
      return true
    }),
  )
})
