import t from 'tap'
import {
  CHANGE_BYTES,
  EDITED_BYTES,
  type FileChange,
  type FileEdit,
} from '../../../functions/domain/commit/change.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { planSteps } from '../../../functions/git/writer/plan.ts'
import { blobName, LARGEST_DIRECTORY, ROOT, type TreeEntry } from '../../../functions/git/tree.ts'
import type { Held } from '../../../functions/git/writer/plan-change.ts'
import { changeOf } from '../stage.ts'

const URL = 'https://git.example.com/acme/shop.git'
const DIRECTORY = { mode: '040000', oid: 'd' }

type Entries = Readonly<Record<string, TreeEntry>>

/** What a branch holds: these entries, and of the files these texts. */
function held(entries: Entries, ...texts: readonly string[]): Held {
  const blobs = new Map(texts.map((text) => [blobName(Buffer.from(text)), Buffer.from(text)]))
  return { tree: new Map(Object.entries(entries)), read: (oid) => blobs.get(oid) }
}

function plan(tip: Entries, writes: readonly (readonly [string, string])[]) {
  const batch = writes.map(([path, text]) => ({ change: changeOf(URL, path, { text }) }))
  return planSteps(held(tip), batch)
}

function blob(text: string, mode = '100644'): TreeEntry {
  return { mode, oid: blobName(Buffer.from(text)) }
}

t.test('a new file is an edit', async (t) => {
  t.match(await plan({ a: DIRECTORY }, [['a/b', 'x']]), [
    { kind: 'edit', files: [{ path: 'a/b', mode: '100644' }] },
  ])
})

t.test('an executable file stays one', async (t) => {
  t.match(await plan({ a: blob('old', '100755') }, [['a', 'x']]), [
    { kind: 'edit', files: [{ path: 'a', mode: '100755' }] },
  ])
})

t.test('the same bytes are no edit, in whatever mode', async (t) => {
  t.match(
    await plan({ a: blob('x', '100755'), b: blob('x', '100664') }, [
      ['a', 'x'],
      ['b', 'x'],
    ]),
    [{ kind: 'unchanged' }, { kind: 'unchanged' }],
  )
})

t.test('a change sees those before it', async (t) => {
  const steps = await plan({ a: blob('1') }, [
    ['a', '2'],
    ['a', '2'],
    ['a', '1'],
  ])
  const kinds = steps.map(({ kind }) => kind)
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
    const [step] = await plan(tip, [[path, 'x']])
    t.match(step, { kind: 'conflict', early: false, failure: { reason: 'PathConflict' } })
    t.match(
      step?.kind === 'conflict' ? step.failure.message : '',
      `The path "${path}" cannot be written in ${URL}, ${says} there`,
    )
  })
}

t.test('a conflict with an earlier change is reported as that', async (t) => {
  t.match(
    await plan({}, [
      ['a', 'x'],
      ['a/b', 'x'],
    ]),
    [{ kind: 'edit' }, { kind: 'conflict', early: true }],
  )
  t.match(
    await plan({}, [
      ['a/b', 'x'],
      ['a', 'x'],
    ]),
    [{ kind: 'edit' }, { kind: 'conflict', early: true }],
  )
})

/** A change of several files. */
function planFiles(tip: Entries, ...changes: readonly (readonly string[])[]) {
  const batch = changes.map((paths) => ({
    change: changeOf(URL, 'a', { files: paths.map((path) => ({ path, content: Buffer.from('x') })) }),
  }))
  return planSteps(held(tip), batch)
}

t.test('of several files those that differ make one commit', async (t) => {
  const [step] = await planFiles({ a: blob('x'), b: blob('old', '100755') }, ['a', 'b', 'c/d'])
  if (step?.kind !== 'edit') throw new Error('Two of them differ')
  t.same(step.files, [
    { path: 'b', mode: '100755', content: Buffer.from('x') },
    { path: 'c/d', mode: '100644', content: Buffer.from('x') },
  ])
})

t.test('several files that are all there are unchanged', async (t) => {
  t.match(await planFiles({ a: blob('x'), b: blob('x') }, ['a', 'b']), [{ kind: 'unchanged' }])
})

t.test('files that name each other through symbolic links fail the whole change, in any order', async (t) => {
  const link = { mode: '120000', oid: 'l' }
  for (const paths of [
    ['dir/a', 'link/a'],
    ['link/a', 'dir/a'],
    ['dir/a', 'dir/link'],
  ])
    t.match(await planFiles({ dir: DIRECTORY, link, 'dir/link': link }, paths), [
      { kind: 'conflict', early: false, failure: { message: /is a symbolic link there/ } },
    ])
})

t.test('one path in conflict fails the whole change, and the next change sees nothing of it', async (t) => {
  const steps = await planFiles({ file: blob('x') }, ['new', 'file/below'], ['new'])
  t.match(steps, [
    { kind: 'conflict', early: false, failure: { message: /"file\/below" .* "file" is a file/ } },
    { kind: 'edit' },
  ])
})

t.test('a conflict with the tip counts before one with a neighbour', async (t) => {
  const steps = await planFiles({ file: blob('x') }, ['new'], ['new/below', 'file/below'])
  t.match(steps[1], { kind: 'conflict', early: false, failure: { message: /"file\/below"/ } })
})

t.test('two changes that write the same path stack, each with what it adds', async (t) => {
  const steps = await planFiles({}, ['a', 'b'], ['b', 'c'])
  t.match(steps, [
    { kind: 'edit', files: [{ path: 'a' }, { path: 'b' }] },
    { kind: 'edit', files: [{ path: 'c' }] },
  ])
})

t.test('files of one change that conflict with each other fail only that change', async (t) => {
  t.match(await planFiles({}, ['a', 'a/b']), [{ kind: 'conflict', early: false }])
})

/** A change of one file. */
function one(path: string, file: Omit<FileEdit, 'path'> | { readonly content?: Uint8Array } = {}) {
  return { change: changeOf(URL, path, { files: [{ path, ...file }] as readonly FileChange[] }) }
}

const append = (text: string) => ({
  edit: (before: Uint8Array) => Buffer.concat([before, Buffer.from(text)]),
})

/** What is written, in short: undefined is removed. */
function writtenBy(steps: Awaited<ReturnType<typeof planSteps>>) {
  return steps.map((step) =>
    step.kind === 'edit'
      ? step.files.map((file) => [file.path, file.content && Buffer.from(file.content).toString()])
      : step.kind,
  )
}

t.test('an edit sees what the tip holds and what the changes before it have made of it', async (t) => {
  const steps = await planSteps(held({ a: blob('1', '100755') }, '1'), [
    one('a', append('2')),
    one('a', append('')),
    one('a', append('3')),
    one('a', { content: Buffer.from('new') }),
    one('a', append('4')),
  ])
  t.same(writtenBy(steps), [[['a', '12']], 'unchanged', [['a', '123']], [['a', 'new']], [['a', 'new4']]])
  t.match(steps[0], { files: [{ mode: '100755' }] })
})

t.test(
  'an edit is made once of the same file, also where nobody waited for its end, unless it fails',
  async (t) => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const seen: string[] = []
    const edit = async (before: Uint8Array) => {
      seen.push(Buffer.from(before).toString())
      await promise
      if (seen.length === 1) throw new Failure('Timeout', 'It took too long.')
      return Buffer.concat([before, Buffer.from('!')])
    }
    const batch = [{ change: changeOf(URL, 'a', { files: [{ path: 'a', edit }] }) }]
    const at = (text: string, patienceMs?: number) =>
      planSteps(held({ a: blob(text) }, text), batch, { patienceMs })
    t.match(await at('1', 1), [{ kind: 'slow' }])
    resolve(undefined)
    t.match(await at('1'), [{ kind: 'conflict', failure: { reason: 'Timeout' } }])
    for (const text of ['1', '1', '2', '2']) {
      const [step] = await at(text, 1_000)
      t.match(step, { kind: 'edit', files: [{ content: Buffer.from(`${text}!`) }] })
    }
    t.same(seen, ['1', '1', '2'])
  },
)

t.test('an edit of a file that is not there, is too large or fails is a conflict of its own', async (t) => {
  const bug = new TypeError('a bug')
  const failing = { edit: () => Promise.reject(bug) }
  const large = { edit: () => Buffer.alloc(EDITED_BYTES + 1) }
  const tip = held({ a: blob('1'), b: blob('not read') }, '1')
  const steps = await planSteps(tip, [
    one('none', append('')),
    one('b', append('')),
    one('a', large),
    one('a', failing),
    one('a', append('2')),
  ])
  t.match(steps, [
    { kind: 'conflict', early: false, failure: { reason: 'PathConflict', message: /"none" is not in/ } },
    {
      kind: 'conflict',
      failure: { reason: 'NotSupported', retry: 'slow', message: /"b" .* more than 2 MiB/ },
    },
    {
      kind: 'conflict',
      failure: { reason: 'NotSupported', retry: 'slow', message: /"a" .* more than 2 MiB/ },
    },
    { kind: 'conflict', failure: { reason: 'Internal' } },
    { kind: 'edit' },
  ])
})

t.test('the files of one change take at most 10 MiB together, edited ones included', async (t) => {
  const part = { content: Buffer.alloc(CHANGE_BYTES / 2 - 1) }
  const files = [
    { path: 'a', ...part },
    { path: 'b', ...part },
    { path: 'c', ...append('x') },
  ] as const
  const change = changeOf(URL, 'a', { files })
  const [within] = await planSteps(held({ c: blob('') }, ''), [{ change }])
  t.equal(within?.kind, 'edit')
  const [beyond] = await planSteps(held({ c: blob('12') }, '12'), [{ change }])
  t.match(beyond, {
    kind: 'conflict',
    failure: { reason: 'NotSupported', retry: 'slow', message: /10 MiB together/ },
  })
})

t.test('no name is added to a directory that is full, also by changes of one batch together', async (t) => {
  const message =
    /^The folder "a" of \S+ holds so many files \(more than 2 MiB of their names\) that none is added/
  const full = { kind: 'conflict', failure: { reason: 'NotSupported', retry: 'slow', message } }
  const tip = { [ROOT]: { ...DIRECTORY, bytes: 100 }, a: { ...DIRECTORY, bytes: LARGEST_DIRECTORY - 60 } }
  const steps = await plan({ ...tip, 'a/there': blob('old') }, [
    ['a/1', 'x'],
    ['a/2/deep/er', 'x'],
    ['a/3', 'x'],
    ['a/there', 'new'],
    ['a/2/deep/er', 'y'],
    ['b/1', 'x'],
  ])
  const edit = { kind: 'edit' }
  t.match(steps, [edit, edit, full, edit, edit, edit])
  t.match(steps[2], { early: true })
  const larger = { ...tip, a: { ...DIRECTORY, bytes: 2 * LARGEST_DIRECTORY }, 'a/there': blob('old') }
  t.match(
    await plan(larger, [
      ['a/there', 'new'],
      ['a/1', 'x'],
    ]),
    [edit, { ...full, early: false }],
  )
  const root = { [ROOT]: { ...DIRECTORY, bytes: LARGEST_DIRECTORY } }
  t.match(await plan(root, [['b', 'x']]), [{ failure: { message: /^The top folder of \S+ holds so many/ } }])
})

t.test('a file is removed where it is there, and nothing is to be done where it is not', async (t) => {
  const tip = held({ a: DIRECTORY, 'a/b': blob('1'), file: blob('2') })
  const steps = await planSteps(tip, [one('a/b'), one('a/b'), one('a/c/d'), one('file/below'), one('none')])
  t.same(writtenBy(steps), [[['a/b', undefined]], 'unchanged', 'unchanged', 'unchanged', 'unchanged'])
})

for (const { is, tip, path, says } of conflicts.filter((one) => !one.is.includes('through a file'))) {
  t.test(`a path that ${is} is not removed`, async (t) => {
    const [step] = await planSteps(held(tip), [one(path)])
    t.match(step, { kind: 'conflict', failure: { reason: 'PathConflict' } })
    t.match(step?.kind === 'conflict' ? step.failure.message : '', `cannot be removed in ${URL}, ${says}`)
  })
}

const FIVE = ['a', 'b', 'c', 'd', 'e']

/** What becomes of changes: of a text, or of edits of files of 2 MiB and of a small one that each take a character off. */
async function kindsOf(
  changes: readonly {
    readonly paths: readonly string[]
    readonly namespace?: string
    readonly text?: string
  }[],
): Promise<readonly string[]> {
  const large = 'x'.repeat(EDITED_BYTES)
  const edit = (before: Uint8Array): Uint8Array => Buffer.from(before.subarray(1))
  const batch = changes.map(({ namespace = 'shop', paths, text }) => {
    const files = paths.map((path) =>
      text === undefined ? { path, edit } : { path, content: Buffer.from(text) },
    )
    return { change: changeOf(URL, 'x', { namespace, files }) }
  })
  const entries = Object.fromEntries(FIVE.map((path) => [path, blob(large)]))
  const tip = held({ ...entries, small: blob('x') }, large, 'x')
  return (await planSteps(tip, batch)).map(({ kind }) => kind)
}

t.test('a push makes edits of 8 MiB, and those that come after them are for the next ones', async (t) => {
  const edits = Array.from({ length: 5 }, () => ({ paths: ['a'] }))
  const made = Array.from({ length: 4 }, () => 'edit')
  t.same(await kindsOf([...edits, { paths: ['b'] }]), [...made, 'later', 'later'])
  const texts = ['c', 'a'].map((path) => ({ paths: [path], text: 'y' }))
  t.same(await kindsOf([...edits, ...texts]), [...made, 'later', 'edit', 'later'], 'in their order')
})

t.test('one change may have more than that', async (t) => {
  t.same(await kindsOf([{ paths: FIVE }, { paths: ['small'] }]), ['edit', 'later'])
  const text = { paths: ['new'], text: 'y' }
  t.same(await kindsOf([{ paths: FIVE }, text]), ['edit', 'edit'], 'and what edits nothing is in its push')
})

t.test('what is in the way may be gone once the edits that are for the next push are made', async (t) => {
  const large = 'x'.repeat(EDITED_BYTES)
  const tip = held({ a: blob(large), d: DIRECTORY, 'd/x': blob('x') }, large)
  const edit = (before: Uint8Array): Uint8Array => Buffer.from(before.subarray(1))
  const edits = Array.from({ length: 4 }, () => [{ path: 'a', edit }])
  const moves = [[{ path: 'a', edit }, { path: 'd/x' }], [{ path: 'd', content: Buffer.from('y') }]]
  const batch = [...edits, ...moves].map((files) => ({ change: changeOf(URL, 'x', { files }) }))
  const kinds = (await planSteps(tip, batch)).map(({ kind }) => kind)
  t.same(kinds.slice(4), ['later', 'later'])
  const [, , conflict] = await planSteps(tip, [batch[0]!, batch[1]!, batch[5]!])
  t.equal(conflict?.kind, 'conflict', 'and else it is a conflict at once')
})

t.test('who edits little is in the push beside those who edit much', async (t) => {
  const much = Array.from({ length: 5 }, () => ({ paths: ['a'], namespace: 'other' }))
  const kinds = await kindsOf([...much, { paths: ['small'] }])
  t.same(kinds, ['edit', 'edit', 'edit', 'edit', 'later', 'edit'])
})

t.test('a file in place of a directory that a removal may have emptied is planned later', async (t) => {
  const tip = held({ a: DIRECTORY, 'a/b': DIRECTORY, 'a/b/c': blob('1') })
  const content = Buffer.from('x')
  const steps = await planSteps(tip, [one('a/b/c'), one('a', { content }), one('a/b', { content })])
  t.match(steps, [{ kind: 'edit' }, { kind: 'later' }, { kind: 'later' }])
})

t.test('a batch of many deep files gives turns to what else waits', async (t) => {
  const changes = 100
  const files = (change: number): readonly FileChange[] =>
    Array.from({ length: 100 }, (_, i) => {
      return { path: `${change}-${i}/${'a/'.repeat(62)}f`, content: Buffer.from('x') }
    })
  const batch = Array.from({ length: changes }, (_, i) => ({
    change: changeOf(URL, 'x', { files: files(i) }),
  }))
  let turns = 0
  const counting = setInterval(() => (turns += 1), 0)
  const steps = await planSteps(held({}), batch)
  clearInterval(counting)
  t.equal(steps.filter(({ kind }) => kind === 'edit').length, changes)
  t.ok(turns > 3, `${turns} turns`)
})
