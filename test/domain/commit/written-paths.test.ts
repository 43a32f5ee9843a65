import t from 'tap'
import { writtenPaths } from '../../../functions/domain/commit/written-paths.ts'

t.test('a commit writes the path of what it refers to', async (t) => {
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', path: 'shop/a.yaml' }
  t.strictSame(writtenPaths({ resourceRef }), [{ field: 'spec.resourceRef.path', path: 'shop/a.yaml' }])
})

t.test('a path with an error of its own is left out', async (t) => {
  t.strictSame(writtenPaths({ resourceRef: { path: null } }), [])
  t.strictSame(writtenPaths({ resourceRef: null }), [])
  t.strictSame(writtenPaths({}), [])
})

t.test('a pull request writes no path', async (t) => {
  t.strictSame(writtenPaths({ baseBranch: 'main', headBranch: 'next', title: 'Next' }), [])
})
