import t from 'tap'
import { branchNamed, namesOf, withNames } from '../../../functions/domain/spec/names.ts'

const NAMES = { namespace: 'shop', name: 'release', kind: 'GitCommit' }
const ROLE = { apiVersion: 'v1', kind: 'Role', name: 'system:a' }

t.test('with files, names are filled in in paths, branch and message, and nowhere else', async (t) => {
  const spec = {
    repository: '{name}',
    branch: 'team/{namespace}/{name}',
    message: '{kind} {name} {other} {name',
    files: [
      {
        path: '{namespace}/{kind}/{name}.yaml',
        resourceRef: { ...ROLE, namespace: 'other', field: '{name}' },
      },
      { path: '{namespace}/{kind}/{name}.yaml', resourceRef: ROLE },
      { path: '{namespace}/{kind}/{name}', content: '{name}' },
    ],
  }
  t.same(withNames(spec, NAMES), {
    repository: '{name}',
    branch: 'team/shop/release',
    message: 'GitCommit release {other} {name',
    files: [
      { ...spec.files[0], path: 'other/Role/system:a.yaml' },
      { ...spec.files[1], path: 'shop/Role/system:a.yaml' },
      { path: 'shop/GitCommit/release', content: '{name}' },
    ],
  })
})

t.test('what is filled in is not a template itself, and doubled braces stay', async (t) => {
  const names = { ...NAMES, name: '{namespace}$&' }
  const { message } = withNames({ message: '{name} {{name}} {{ .name }} {{{name}}}', files: [] }, names)
  t.equal(message, '{namespace}$& {{name}} {{ .name }} {{{name}}}')
})

t.test('without files, braces are ordinary characters', async (t) => {
  const spec = { branch: '{name}', message: '{name}', resourceRef: { ...ROLE, path: '{name}' } }
  t.equal(withNames(spec, NAMES), spec)
  t.equal(branchNamed({ kind: 'GitCommit', metadata: { name: 'a' }, spec }), '{name}')
})

t.test('a spec with errors keeps what cannot be filled in', async (t) => {
  const spec = { branch: null, files: [null, { path: null }, { path: '{name}{kind}', resourceRef: {} }] }
  t.same(withNames(spec, NAMES).files, [null, { path: null }, { path: '', resourceRef: {} }])
  t.equal(withNames({ files: null, message: '{name}' }, NAMES).message, '{name}')
})

t.test('a resource that has no name yet has one of the length that it will have', async (t) => {
  const resource = { kind: 'GitCommit', metadata: { generateName: 'a-', namespace: 'shop' } }
  t.same(namesOf(resource), { namespace: 'shop', name: 'a-xxxxx', kind: 'GitCommit' })
  t.same(namesOf(undefined), { namespace: '', name: 'xxxxx', kind: '' })
})

t.test('the branch of a resource is the one with its names', async (t) => {
  const metadata = { name: 'release', namespace: 'shop' }
  const spec = { branch: '{namespace}/{name}', files: [] }
  t.equal(branchNamed({ kind: 'GitCommit', metadata, spec }), 'shop/release')
  t.equal(branchNamed({ kind: 'GitCommit', metadata, spec: { files: [] } }), undefined)
})
