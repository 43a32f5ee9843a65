import t from 'tap'
import { planSteps } from '../../../functions/git/writer/plan.ts'
import { blobName, type TreeEntry } from '../../../functions/git/tree.ts'
import { changeOf } from '../stage.ts'

const URL = 'https://git.example.com/acme/shop.git'
const DIRECTORY = { mode: '040000', oid: 'd' }

function plan(tip: Readonly<Record<string, TreeEntry>>, writes: readonly (readonly [string, string])[]) {
  const batch = writes.map(([path, text]) => ({ change: changeOf(URL, path, { text }) }))
  return planSteps(new Map(Object.entries(tip)), batch)
}

function blob(text: string, mode = '100644'): TreeEntry {
  return { mode, oid: blobName(Buffer.from(text)) }
}

t.test('a new file is an edit', async (t) => {
  t.match(plan({ a: DIRECTORY }, [['a/b', 'x']]), [
    { kind: 'edit', files: [{ path: 'a/b', mode: '100644' }] },
  ])
})

t.test('an executable file stays one', async (t) => {
  t.match(plan({ a: blob('old', '100755') }, [['a', 'x']]), [
    { kind: 'edit', files: [{ path: 'a', mode: '100755' }] },
  ])
})

t.test('the same bytes are no edit, in whatever mode', async (t) => {
  t.match(
    plan({ a: blob('x', '100755'), b: blob('x', '100664') }, [
      ['a', 'x'],
      ['b', 'x'],
    ]),
    [{ kind: 'unchanged' }, { kind: 'unchanged' }],
  )
})

t.test('a change sees those before it', async (t) => {
  const kinds = plan({ a: blob('1') }, [
    ['a', '2'],
    ['a', '2'],
    ['a', '1'],
  ]).map(({ kind }) => kind)
  t.same(kinds, ['edit', 'unchanged', 'edit'])
})

const conflicts = [
  {
    is: 'is a symbolic link',
    tip: { a: { mode: '120000', oid: 'x' } },
    path: 'a',
    says: 'because it is a symbolic link',
  },
  {
    is: 'runs through a symbolic link',
    tip: { a: { mode: '120000', oid: 'x' } },
    path: 'a/b',
    says: 'because "a" is a symbolic link',
  },
  {
    is: 'is a submodule',
    tip: { a: { mode: '160000', oid: 'x' } },
    path: 'a',
    says: 'because it is a submodule',
  },
  {
    is: 'runs through a submodule',
    tip: { a: DIRECTORY, 'a/b': { mode: '160000', oid: 'x' } },
    path: 'a/b/c',
    says: 'because "a/b" is a submodule',
  },
  { is: 'runs through a file', tip: { a: blob('x') }, path: 'a/b', says: 'because "a" is a file' },
  {
    is: 'is a directory',
    tip: { a: DIRECTORY, 'a/b': DIRECTORY },
    path: 'a/b',
    says: 'because it is a directory',
  },
] as const
for (const { is, tip, path, says } of conflicts) {
  t.test(`a path that ${is} is a conflict`, async (t) => {
    const [step] = plan(tip, [[path, 'x']])
    t.match(step, { kind: 'conflict', early: false, failure: { reason: 'PathConflict' } })
    t.match(
      step?.kind === 'conflict' ? step.failure.message : '',
      `The path "${path}" cannot be written in ${URL}, ${says} there`,
    )
  })
}

t.test('a conflict with an earlier change is reported as that', async (t) => {
  t.match(
    plan({}, [
      ['a', 'x'],
      ['a/b', 'x'],
    ])[1],
    { kind: 'conflict', early: true },
  )
  t.match(
    plan({}, [
      ['a/b', 'x'],
      ['a', 'x'],
    ])[1],
    { kind: 'conflict', early: true },
  )
})

/** A change of several files. */
function planFiles(tip: Readonly<Record<string, TreeEntry>>, ...changes: readonly (readonly string[])[]) {
  const batch = changes.map((paths) => ({
    change: changeOf(URL, 'a', { files: paths.map((path) => ({ path, content: Buffer.from('x') })) }),
  }))
  return planSteps(new Map(Object.entries(tip)), batch)
}

t.test('of several files those that differ make one commit', async (t) => {
  const [step] = planFiles({ a: blob('x'), b: blob('old', '100755') }, ['a', 'b', 'c/d'])
  if (step?.kind !== 'edit') throw new Error('Two of them differ')
  t.same(
    step.files.map(({ path, mode }) => [path, mode]),
    [
      ['b', '100755'],
      ['c/d', '100644'],
    ],
  )
})

t.test('several files that are all there are unchanged', async (t) => {
  t.match(planFiles({ a: blob('x'), b: blob('x') }, ['a', 'b']), [{ kind: 'unchanged' }])
})

t.test('one path in conflict fails the whole change, and the next change sees nothing of it', async (t) => {
  const steps = planFiles({ file: blob('x') }, ['new', 'file/below'], ['new'])
  t.match(steps, [
    { kind: 'conflict', early: false, failure: { message: /"file\/below" .* "file" is a file/ } },
    { kind: 'edit' },
  ])
})

t.test('a conflict with the tip counts before one with a neighbour', async (t) => {
  const steps = planFiles({ file: blob('x') }, ['new'], ['new/below', 'file/below'])
  t.match(steps[1], { kind: 'conflict', early: false, failure: { message: /"file\/below"/ } })
})

t.test('two changes that write the same path stack, each with what it adds', async (t) => {
  const steps = planFiles({}, ['a', 'b'], ['b', 'c'])
  t.match(steps, [
    { kind: 'edit', files: [{ path: 'a' }, { path: 'b' }] },
    { kind: 'edit', files: [{ path: 'c' }] },
  ])
})

t.test('files of one change that conflict with each other fail only that change', async (t) => {
  t.match(planFiles({}, ['a', 'a/b']), [{ kind: 'conflict', early: false }])
})
