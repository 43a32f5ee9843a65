import t from 'tap'
import { specErrors, specWarnings } from '../../../functions/domain/gate/spec-rules.ts'
import { readable } from '../fixtures/parsed.ts'

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }
const SPEC = {
  repository: 'https://git.example.com/acme/shop.git',
  message: 'chore: settings',
  credentials: { secretName: 'git', tokenKey: 'token' },
}

/** The errors in short. */
function errorsOf(spec: object): readonly string[] {
  return specErrors(readable('GitCommit', { ...SPEC, ...spec })).map(
    ({ reason, field }) => `${reason} ${field}`,
  )
}

function setting(change: object): object {
  return { files: [{ path: 'a.yaml', set: [change] }] }
}

t.test('each source passes', async (t) => {
  const files = [
    { path: 'a', resourceRef: MAP },
    { path: 'b', resourceRef: { ...MAP, field: '.data["values.yaml"]' } },
    { path: 'c', content: '' },
    { path: 'd', remove: true },
    {
      path: 'e',
      set: [{ field: '.a[0]', value: { b: [1, null, 'x'] }, mustExist: true, document: { index: 1 } }],
    },
    { path: 'f', set: [{ field: '.a', value: null, document: { field: '.kind', value: 'Deployment' } }] },
    { path: 'g', set: [{ field: '.a', valueFrom: { resourceRef: { ...MAP, field: '.data.a' } } }] },
  ]
  t.same(errorsOf({ files }), [])
})

for (const [title, spec, errors] of [
  ['nothing to commit', {}, ['spec.resourceRef']],
  ['both forms', { resourceRef: { ...MAP, path: 'a' }, files: [{ path: 'b', content: '' }] }, ['spec.files']],
  ['no files', { files: [] }, ['spec.files']],
  [
    'too many files',
    { files: Array.from({ length: 101 }, (_, i) => ({ path: `${i}`, content: '' })) },
    ['spec.files'],
  ],
  ['no source', { files: [{ path: 'a' }] }, ['spec.files[0]']],
  [
    'a line of a host about a repository that has moved',
    { files: [{ path: 'a', content: '# Shop\nThis repository has moved to https://git.example.com/x/y\n' }] },
    ['spec.files[0].content'],
  ],
  ['no path', { files: [{ content: 'a' }] }, ['spec.files[0].path']],
  ['two sources', { files: [{ path: 'a', content: '', remove: true }] }, ['spec.files[0].remove']],
  ['a file that is not removed', { files: [{ path: 'a', remove: false }] }, ['spec.files[0].remove']],
  [
    'an unknown field',
    { files: [{ path: 'a', content: '', mode: '755' }] },
    ['NotSupported spec.files[0].mode'],
  ],
  [
    'a field of a later release',
    { files: [{ path: 'a', content: '' }], timestamping: { secretName: 'key' } },
    ['NotSupported spec.timestamping'],
  ],
  [
    'a Secret',
    { files: [{ path: 'a', resourceRef: { ...MAP, kind: 'Secret' } }] },
    ['spec.files[0].resourceRef.kind'],
  ],
  [
    'a Secret for a value',
    setting({ field: '.a', valueFrom: { resourceRef: { ...MAP, kind: 'Secret', field: '.data.a' } } }),
    ['spec.files[0].set[0].valueFrom.resourceRef.kind'],
  ],
  [
    'an expression',
    { files: [{ path: 'a', resourceRef: { ...MAP, field: '..a' } }] },
    ['spec.files[0].resourceRef.field'],
  ],
  ['a wildcard', setting({ field: '.a[*]', value: 1 }), ['spec.files[0].set[0].field']],
  ['no value', setting({ field: '.a' }), ['spec.files[0].set[0]']],
  [
    'two values',
    setting({ field: '.a', value: 1, valueFrom: { resourceRef: { ...MAP, field: '.a' } } }),
    ['spec.files[0].set[0].valueFrom'],
  ],
  ['lost digits', setting({ field: '.a', value: [{ b: 2 ** 53 }] }), ['spec.files[0].set[0].value']],
  [
    'half a choice',
    setting({ field: '.a', value: 1, document: { field: '.a' } }),
    ['spec.files[0].set[0].document'],
  ],
  [
    'two choices',
    setting({ field: '.a', value: 1, document: { index: 0, field: '.a', value: 'x' } }),
    ['spec.files[0].set[0].document.index'],
  ],
  [
    'a token in a value',
    setting({ field: '.a', value: { b: [`ghp_${'a1'.repeat(18)}`] } }),
    ['spec.files[0].set[0].value'],
  ],
  [
    'a token in a content',
    { files: [{ path: 'a', content: `ghp_${'a1'.repeat(18)}` }] },
    ['spec.files[0].content'],
  ],
  [
    '64 KiB of characters',
    { files: [{ path: 'a', content: 'ü'.repeat(40_000) }] },
    ['spec.files[0].content'],
  ],
  [
    '256 KiB together',
    { files: [0, 1, 2, 3, 4].map((i) => ({ path: `${i}`, content: 'x'.repeat(60_000) })) },
    ['spec.files'],
  ],
  [
    '256 KiB in values',
    setting({ field: '.a', value: { [`k${'x'.repeat(200_000)}`]: ['y'.repeat(70_000)] } }),
    ['spec.files'],
  ],
  [
    'too many values',
    setting({ field: '.a', value: { b: Array.from({ length: 10_001 }, () => 1) } }),
    ['spec.files'],
  ],
  [
    'too many keys',
    setting({ field: '.a', value: Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [i, 1])) }),
    ['spec.files'],
  ],
  [
    'a deep value',
    setting({ field: '.a', value: JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) }),
    ['spec.files'],
  ],
  [
    'too many changes',
    {
      files: Array.from({ length: 20 }, (_, i) => ({
        path: `${i}`,
        set: Array.from({ length: 51 }, () => ({ field: '.a', value: 1 })),
      })),
    },
    ['spec.files'],
  ],
  [
    'too deep paths',
    { files: Array.from({ length: 20 }, (_, i) => ({ path: `${'a/'.repeat(300)}${i}`, content: '' })) },
    ['spec.files'],
  ],
  [
    'too many objects',
    {
      files: [0, 1].map((i) => ({
        path: `${i}`,
        set: Array.from({ length: 51 }, (_, j) => ({
          field: '.a',
          valueFrom: { resourceRef: { ...MAP, name: `${i}-${j}`, field: '.data.a' } },
        })),
      })),
    },
    ['spec.files'],
  ],
  [
    'paths that are the same, and one below another',
    { files: ['a', 'b', 'a', 'b/c/d', 'bc'].map((path) => ({ path, content: '' })) },
    ['spec.files[2].path', 'spec.files[3].path'],
  ],
  [
    'a path of too many folders',
    { files: [{ path: `${'a/'.repeat(64)}b`, content: '' }] },
    ['spec.files[0].path'],
  ],
  [
    'the same for the short form',
    { resourceRef: { ...MAP, path: `${'a/'.repeat(64)}b` } },
    ['spec.resourceRef.path'],
  ],
  [
    'bad paths, each with its index',
    { files: ['a', '../b', '.git/c', 'd'].map((path) => ({ path, content: '' })) },
    ['spec.files[1].path', 'spec.files[2].path'],
  ],
] as const) {
  t.test(`an error is reported at its field: ${title}`, async (t) => {
    t.same(
      errorsOf(spec),
      errors.map((error) => (error.includes(' ') ? error : `InvalidSpec ${error}`)),
    )
  })
}

t.test('rules see the names that templates stand for', async (t) => {
  const named = (name: string, spec: object) =>
    readable('GitCommit', { ...SPEC, ...spec }, { name, namespace: 'shop' })
  const files = [
    { path: '{name}/a', content: '' },
    { path: 'x/a', content: '' },
    { path: '{kind}', resourceRef: { ...MAP, kind: '.git' } },
  ]
  const fields = (name: string, spec: object) => specErrors(named(name, spec)).map(({ field }) => field)
  t.same(fields('x', { files }), [
    'spec.files[2].resourceRef.kind',
    'spec.files[1].path',
    'spec.files[2].path',
  ])
  t.same(fields('y', { files: files.slice(0, 2), branch: '{name}..', message: 'Commitlet-{name}: a' }), [
    'spec.branch',
    'spec.message',
  ])
  t.same(
    fields('n'.repeat(250), {
      branch: '{name}{name}',
      files: [{ path: '{name}/'.repeat(5) + 'a', content: '' }],
    }),
    ['spec.branch', 'spec.files[0].path'],
  )
  t.match(specWarnings(named('.github', { files: [{ path: '{name}/a', content: '' }] })), [/allowed-paths/])
})

t.test('a template of another tool is a warning, with files alone', async (t) => {
  const files = [{ path: '{{ .Values.a }}', content: '{{ fine }}' }]
  t.match(specWarnings(readable('GitCommit', { ...SPEC, message: '{{a}}', branch: '{{b}}', files })), [
    /^spec\.branch contains "\{\{"/,
    /^spec\.message /,
    /^spec\.files\[0\]\.path /,
  ])
  t.same(specWarnings(readable('GitCommit', { ...SPEC, resourceRef: { ...MAP, path: '{{a}}' } })), [])
})

const SHORT = { resourceRef: { ...MAP, path: 'a.yaml' } }
const OURS = { apiVersion: 'commitlet.dev/v1', kind: 'GitCommit', name: 'other' }

t.test('a follower of a GitCommit, itself or another one, would never end and is an error', (t) => {
  const valueFrom = { resourceRef: { ...OURS, field: '.status.commit.sha' } }
  const files = [
    { path: 'a.yaml', resourceRef: MAP },
    { path: 'b.yaml', resourceRef: OURS },
    { path: 'c.yaml', set: [{ field: '.sha', valueFrom }] },
  ]
  t.same(errorsOf({ files, sync: 'OnChange' }), [
    'InvalidSpec spec.files[1].resourceRef.kind',
    'InvalidSpec spec.files[2].set[0].valueFrom.resourceRef.kind',
  ])
  t.same(errorsOf({ resourceRef: { ...OURS, path: 'a.yaml' }, sync: 'OnChange' }), [
    'InvalidSpec spec.resourceRef.kind',
  ])
  t.same(errorsOf({ files }), [], 'once it is read as anything else')
  for (const other of [{ kind: 'PullRequest' }, { apiVersion: 'commitlet.example.com/v1' }])
    t.same(errorsOf({ resourceRef: { ...OURS, ...other, path: 'a.yaml' }, sync: 'OnChange' }), [])
  t.end()
})

for (const [title, spec, errors] of [
  ['Once', { ...SHORT, sync: 'Once' }, []],
  ['OnChange', { ...SHORT, sync: 'OnChange', interval: '1h30m' }, []],
  [
    'OnChange of nothing',
    { files: [{ path: 'a', content: '' }], sync: 'OnChange' },
    ['InvalidSpec spec.sync'],
  ],
  ['another word', { ...SHORT, sync: 'Always' }, ['InvalidSpec spec.sync']],
  ['an interval alone', { ...SHORT, interval: '10m' }, ['InvalidSpec spec.interval']],
  [
    'an interval that is too short',
    { ...SHORT, sync: 'Once', interval: '59s' },
    ['InvalidSpec spec.interval'],
  ],
  ['no duration', { ...SHORT, sync: 'Once', interval: 'often' }, ['InvalidSpec spec.interval']],
] as const)
  t.test(`sync: ${title}`, async (t) => t.same(errorsOf(spec), errors))
