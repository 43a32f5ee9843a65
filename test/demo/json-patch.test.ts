import t from 'tap'
import { applyPatch } from '../../demo/json-patch.ts'

const OBJECT = { metadata: { annotations: { 'commitlet.dev/requester': 'old', 'a~b': 'old' } } }

t.test('values are added and removed in a copy, keys unescaped', async (t) => {
  const patched = applyPatch(OBJECT, [
    { op: 'add', path: '/metadata/annotations/commitlet.dev~1requester', value: 'new' },
    { op: 'remove', path: '/metadata/annotations/a~0b' },
    { op: 'add', path: '/metadata/labels', value: { app: 'shop' } },
  ])
  t.same(patched, {
    metadata: { annotations: { 'commitlet.dev/requester': 'new' }, labels: { app: 'shop' } },
  })
  t.equal(OBJECT.metadata.annotations['a~b'], 'old')
})

const STRANGE = [
  { title: 'another operation', patch: [{ op: 'test', path: '/metadata', value: 1 }] },
  { title: 'a place that is not there', patch: [{ op: 'add', path: '/spec/message', value: 'x' }] },
  { title: 'the whole document', patch: [{ op: 'add', path: '', value: {} }] },
]
for (const { title, patch } of STRANGE) {
  t.test(`a patch of ${title} is an error`, async (t) => {
    t.throws(() => applyPatch(OBJECT, patch), { message: /cannot be applied/ })
  })
}
