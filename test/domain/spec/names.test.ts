import t from 'tap'
import { branchNamed, namesExcess, namesOf, withNames } from '../../../functions/domain/spec/names.ts'

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

t.test('of a name that is too long the beginning is taken', async (t) => {
  const metadata = { name: 'a'.repeat(40_000), namespace: 'b'.repeat(40_000) }
  const names = namesOf({ kind: 'c'.repeat(40_000), metadata })
  t.same(names, { namespace: 'b'.repeat(253), name: 'a'.repeat(253), kind: 'c'.repeat(253) })
  t.equal(namesOf({ metadata: { generateName: 'a'.repeat(40_000) } }).name, 'a'.repeat(253))
})

t.test('a text that is too long with its names is an error, and is not made', async (t) => {
  const names = { ...NAMES, name: 'ü'.repeat(100), namespace: 'n'.repeat(60) }
  const path = '{namespace}/'.repeat(16)
  const fits = { branch: '{name}{name}', message: '{name}'.repeat(327), files: [{ path, content: '' }] }
  t.same(namesExcess(fits, names), [])
  t.equal(withNames(fits, names).message.length, 32_700)
  const spec = {
    branch: '{name}{name}{name}',
    message: '{name}'.repeat(328),
    files: [{ path: `${path}{namespace}{name}`, content: '' }, null, { path, resourceRef: { name: '' } }],
  }
  t.match(namesExcess(spec, names), [
    { field: 'spec.branch', message: /^spec\.branch has 300 characters, but at most 255 are allowed; / },
    { field: 'spec.message', message: /^spec\.message has 65600 bytes, but at most 65536 are allowed; / },
    { field: 'spec.files[0].path', message: /has 1136 characters, but at most 1024 / },
  ])
  t.match(withNames(spec, names), {
    branch: spec.branch,
    message: spec.message,
    files: spec.files.slice(0, 2),
  })
  t.same(namesExcess({ ...spec, files: undefined }, names), [])
})
