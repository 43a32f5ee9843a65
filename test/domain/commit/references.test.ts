import t from 'tap'
import { writtenReferences } from '../../../functions/domain/commit/references.ts'
import { writtenPaths } from '../../../functions/domain/commit/written-paths.ts'

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }

t.test('every reference of a commit has its place in the spec', async (t) => {
  const files = [
    { path: 'a', content: 'x' },
    { path: 'b', resourceRef: MAP },
    null,
    { path: 'c', set: [{ field: '.a', value: 1 }, null, { field: '.b', valueFrom: { resourceRef: MAP } }] },
  ]
  t.same(
    writtenReferences({ files }).map(({ field }) => field),
    ['spec.files[1].resourceRef', 'spec.files[3].set[2].valueFrom.resourceRef'],
  )
  t.same(writtenReferences({ resourceRef: { ...MAP, path: 'a' } }), [
    { field: 'spec.resourceRef', reference: { ...MAP, path: 'a' } },
  ])
  t.same(writtenReferences({ resourceRef: null, files: null }), [])
})

t.test('every file of a commit has its path', async (t) => {
  t.same(writtenPaths({ files: [{ path: 'a' }, null, { path: null }, { path: 'b' }] }), [
    { field: 'spec.files[0].path', path: 'a' },
    { field: 'spec.files[3].path', path: 'b' },
  ])
})
