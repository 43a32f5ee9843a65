import t from 'tap'
import { fieldBytes, renderField, requestedField } from '../../../functions/domain/field-path/field-bytes.ts'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import { readRequested } from '../../../functions/domain/manifest/manifest.ts'
import { parseJSONText } from '../../../functions/domain/manifest/json-text.ts'

const REQUESTED = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'b' }

function answer(rest: string, kind = 'ConfigMap', apiVersion = 'v1'): string {
  return `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"a","namespace":"b"},${rest}}`
}

function rendered(text: string, field: string, path = 'a.yaml', kind = 'ConfigMap'): string {
  const requested = { ...REQUESTED, kind }
  const bytes = renderField(readRequested(text, requested), requested, { field: parseFieldPath(field), path })
  return Buffer.from(bytes).toString('latin1')
}

t.test('a text is its bytes, whatever the path ends in', async (t) => {
  const text = answer('"data":{"x.yaml":"no: end\\r\\n\\u0001 \\u00e9","empty":""}')
  const bytes = Buffer.from('no: end\r\n\u0001 é').toString('latin1')
  for (const path of ['a.yaml', 'a.json', 'a']) t.equal(rendered(text, '.data["x.yaml"]', path), bytes, path)
  t.equal(rendered(text, '.data.empty'), '')
})

t.test('other values are YAML, or JSON by the ending of the path', async (t) => {
  const text = answer('"status":{"list":[1,{"a":null}],"big":12345678901234567890}')
  t.equal(rendered(text, '.status.list'), '- 1\n- a: null\n')
  t.equal(rendered(text, '.status.list', 'a.JSON'), '[\n  1,\n  {\n    "a": null\n  }\n]\n')
  t.equal(rendered(text, '.status.big'), '12345678901234567890\n')
})

t.test('binaryData of a ConfigMap is decoded, and only that', async (t) => {
  const data = '{"logo":"/wAB"}'
  t.equal(rendered(answer(`"binaryData":${data}`), '.binaryData.logo'), '\xff\x00\x01')
  t.equal(rendered(answer(`"binaryData":${data}`), '.binaryData'), 'logo: /wAB\n', 'the mapping')
  t.equal(rendered(answer(`"data":${data}`), '.data.logo'), '/wAB')
  t.equal(rendered(answer(`"binaryData":${data}`, 'Other'), '.binaryData.logo', 'a', 'Other'), '/wAB')
  t.throws(() => rendered(answer('"binaryData":{"logo":"%"}'), '.binaryData.logo'), {
    reason: 'NotSupported',
    message: /base64/,
  })
})

t.test('a missing field, another object and a Secret are refused', async (t) => {
  t.throws(() => rendered(answer('"data":{"b":"v"}'), '.data.a'), {
    reason: 'ReferenceNotFound',
    message: 'ConfigMap a has no field .data.a: the keys at step 1 are "b"; correct the field.',
  })
  t.throws(() => rendered(answer('"data":{}', 'Pod'), '.data.a'), {
    reason: 'ReferenceForbidden',
    message: /kind/,
  })
  const secret = { ...REQUESTED, kind: 'Secret' }
  t.throws(
    () =>
      requestedField(
        readRequested(answer('"data":{"a":"x"}', 'Secret'), secret),
        secret,
        parseFieldPath('.data.a'),
      ),
    {
      reason: 'ReferenceForbidden',
      message: /Secret/,
    },
  )
})

t.test('more than 10 MiB are refused while they are written', async (t) => {
  const list = parseJSONText(`[${`"${'x'.repeat(1_000_000)}",`.repeat(11)}1]`)
  t.throws(() => fieldBytes(list, 'a.yaml'), { reason: 'NotSupported', message: /10 MiB/ })
  t.throws(() => fieldBytes('x'.repeat(11_000_000), 'a'), { reason: 'NotSupported', message: /10 MiB/ })
})
