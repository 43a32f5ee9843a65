import t from 'tap'
import { decodeCommit, encodeCommit } from '../../../functions/git/objects/commit-object.ts'
import { makeObject, type GitObject, type ObjectId } from '../../../functions/git/objects/object.ts'
import { splice } from '../../../functions/git/objects/splice.ts'
import { spliceAtOnce } from './splice-at-once.ts'
import type { NewCommit } from '../../../functions/git/remote.ts'
import { sized } from '../../harness/sample.ts'
import { decodeTree, encodeTree } from './tree-entries.ts'
import { randomHistory, streamOf, type History } from './histories.ts'
import { createRandom } from './random.ts'
import { createStore } from './store.ts'

const random = createRandom()

function file(path: string, mode = '100644') {
  return { path, mode, content: Buffer.from('new') }
}

function wideHistory(): History {
  const leaf = { mode: '100644', content: Buffer.from('x') }
  const names = Array.from({ length: 10_000 }, (_, i) => `wide/${i * 7}`)
  const paths = ['wide/14', 'wide/15.b', 'wide/15/c', 'wide/zz', 'top']
  const author = { name: 'Ada', email: 'ada@example.com' }
  const commit = { files: paths.map((path) => file(path)), message: 'Many\n', author, date: new Date(0) }
  return { base: new Map(names.map((name) => [name, leaf])), commits: [commit] }
}

t.test('between two steps one directory is read at most, however deep they are', async (t) => {
  const depth = 30
  const path = [...Array(depth).fill('dir'), 'file'].join('/')
  const made = spliceAtOnce(() => undefined, undefined, [file(path)])
  const trees = new Map(made.objects.map(({ id, body }) => [id, body]))
  let reads = 0
  const read = (id: ObjectId): Buffer | undefined => {
    reads += 1
    return trees.get(id)
  }
  const steps = splice(read, made.root, [file(path, '100755')])
  let [most, before] = [0, 0]
  for (let { done } = steps.next(); done !== true; { done } = steps.next()) {
    most = Math.max(most, reads - before)
    before = reads
  }
  t.equal(reads, depth + 1)
  t.equal(most, 1)
})

t.test(`commits on random trees are those of git fast-import (seed ${random.seed})`, async (t) => {
  const store = createStore(t.testdir())
  const count = sized(200, 10_000)
  const histories = [wideHistory(), ...Array.from({ length: count }, () => randomHistory(random, 30))]
  const tips = store.git(['fast-import', '--quiet', '--done'], streamOf(histories)).toString().split('\n')
  const objects = store.objects()
  for (const [i, { commits }] of histories.entries()) {
    const chain = chainTo(objects, tips[i] ?? '')
    if (chain.length === commits.length + 1 && isSame(objects, chain, commits)) continue
    t.fail(`history ${i} differs`, { commits })
  }
  t.equal(tips.length, histories.length + 1)
})

/** The names of the commits, the newest last. */
function chainTo(objects: ReadonlyMap<ObjectId, GitObject>, tip: ObjectId): readonly ObjectId[] {
  const chain: ObjectId[] = []
  for (
    let at: ObjectId | undefined = tip;
    at !== undefined;
    [at] = decodeCommit(objects.get(at)!.body).parents
  )
    chain.unshift(at)
  return chain
}

/** Whether our commits on the first of the chain are the others, and of objects that Git has made, too. */
function isSame(
  objects: ReadonlyMap<ObjectId, GitObject>,
  [first = '', ...others]: readonly ObjectId[],
  commits: readonly NewCommit[],
): boolean {
  const made = new Set<ObjectId>()
  const names: ObjectId[] = []
  let { tree } = decodeCommit(objects.get(first)!.body)
  for (const { files, ...parts } of commits) {
    const spliced = spliceAtOnce((id) => objects.get(id)?.body, tree, files)
    tree = spliced.root
    for (const { id } of spliced.objects) made.add(id)
    names.push(encodeCommit({ ...parts, tree, parents: [names.at(-1) ?? first] }).id)
  }
  return names.join() === others.join() && [...made].every((id) => objects.has(id))
}

t.test('files in an empty repository make every tree', async (t) => {
  const { root, objects } = spliceAtOnce(() => undefined, undefined, [file('b/c'), file('a', '100755')])
  t.same(
    objects.map(({ kind }) => kind),
    ['blob', 'tree', 'tree'],
  )
  t.equal(objects.at(-1)?.id, root)
  t.match(decodeTree(objects.at(-1)!.body), [
    { mode: '100755', name: 'a' },
    { mode: '40000', name: 'b' },
  ])
})

t.test('what is there already makes no object', async (t) => {
  const first = spliceAtOnce(() => undefined, undefined, [file('a/b')])
  const read = (id: ObjectId) => first.objects.find((object) => object.id === id)?.body
  t.same(spliceAtOnce(read, first.root, [file('a/b')]), { root: first.root, objects: [] })
})

t.test('other entries stay byte for byte, also with modes that Git no longer writes', async (t) => {
  const odd = { mode: '100664', name: 'a\xff', id: '1'.repeat(40) }
  const below = makeObject('tree', encodeTree([odd]))
  const root = makeObject('tree', encodeTree([odd, { mode: '40755', name: 'dir', id: below.id }]))
  const read = (id: ObjectId) => (id === root.id ? root.body : below.body)
  const { objects } = spliceAtOnce(read, root.id, [file('dir/b'), file('z')])
  const trees = objects.filter(({ kind }) => kind === 'tree').map(({ body }) => decodeTree(body))
  const names = trees.map((entries) => entries.map(({ mode, name }) => `${mode} ${name}`))
  t.same(names, [
    ['100664 a\xff', '100644 b'],
    ['100664 a\xff', '40755 dir', '100644 z'],
  ])
})

t.test('a zero before the mode of a directory, as old tools wrote it, is not written again', async (t) => {
  const below = makeObject('tree', encodeTree([{ mode: '100644', name: 'b', id: '1'.repeat(40) }]))
  const padded = ['dir', 'other'].map((name) => ({ mode: '040000', name, id: below.id }))
  const root = makeObject('tree', encodeTree(padded))
  const read = (id: ObjectId) => (id === root.id ? root.body : below.body)
  const { objects } = spliceAtOnce(read, root.id, [file('dir/c')])
  t.match(decodeTree(objects.at(-1)!.body), [
    { mode: '40000', name: 'dir' },
    { mode: '40000', name: 'other', id: below.id },
  ])
})

t.test('what a caller has to rule out is an internal error', async (t) => {
  const id = '1'.repeat(40)
  const modes = { dir: '40000', file: '100644', link: '120000', module: '160000' }
  const empty = makeObject('tree', Buffer.alloc(0))
  const entries = Object.entries(modes).map(([name, mode]) => ({
    mode,
    name,
    id: name === 'dir' ? id : empty.id,
  }))
  const root = makeObject('tree', encodeTree(entries))
  const cases = {
    'a file in place of a directory': [file('dir')],
    'a directory in place of a file': [file('file/a')],
    'a directory in place of a symbolic link': [file('link/a')],
    'a file in place of a symbolic link': [file('link')],
    'a directory in place of a submodule': [file('module/a')],
    'a file in place of a submodule': [file('module')],
    'a path twice': [file('a'), file('a')],
    'a file below a file of the same commit': [file('a/b'), file('a')],
    'a mode that is not one of a file': [file('a', '120000')],
    'an empty name': [file('a//b')],
    'a parent': [file('../a')],
    'the folder of Git': [file('.GIT/config')],
    'a NUL': [file('a\0b')],
    'a tree that was not read': [file('dir/a')],
  }
  for (const [title, files] of Object.entries(cases)) {
    const read = (wanted: ObjectId) => [root, empty].find((tree) => tree.id === wanted)?.body
    t.throws(() => spliceAtOnce(read, root.id, files), { reason: 'Internal', message: /cannot build/ }, title)
  }
  t.throws(() => spliceAtOnce(() => Buffer.from('x'), root.id, [file('a')]), {
    reason: 'NotSupported',
    message: /broken object/,
  })
})
