import t from 'tap'
import { makeObject, type GitObject } from '../../../functions/git/objects/object.ts'
import { canonicalMode, kindOfMode, type TreeEntry } from '../../../functions/git/objects/tree-object.ts'
import { sized } from '../../harness/sample.ts'
import { BYTE_NAMES } from './histories.ts'
import { writtenPack } from './pack-bytes.ts'
import { createRandom } from './random.ts'
import { createStore } from './store.ts'
import { decodeTree, encodeTree } from './tree-entries.ts'

const random = createRandom()
const MODES = ['100644', '100755', '100664', '120000', '160000', '40000', '40000', '40000']
const TYPES = { file: 'blob', symlink: 'blob', directory: 'tree', submodule: 'commit' }

function randomEntries(): readonly TreeEntry[] {
  const names = new Set(Array.from({ length: random.int(12) }, () => random.pick(BYTE_NAMES)))
  return [...names].map((name) => ({ mode: random.pick(MODES), name, id: random.bytes(20).toString('hex') }))
}

t.test(`trees are sorted and written as git mktree does (seed ${random.seed})`, async (t) => {
  const store = createStore(t.testdir())
  const trees = Array.from({ length: sized(300, 10_000) }, randomEntries)
  const lines = trees.map((entries) => {
    const each = entries.map(({ mode, name, id }) => `${mode} ${TYPES[kindOfMode(mode)]} ${id}\t${name}\0`)
    return `${each.join('')}\0`
  })
  const input = Buffer.from(lines.join(''), 'latin1')
  const ids = store.git(['mktree', '--batch', '--missing', '-z'], input).toString().trim().split('\n')
  t.same(
    trees.map((entries) => makeObject('tree', encodeTree(entries)).id),
    ids,
  )
  const differ = trees.filter((entries) => {
    const sorted = decodeTree(encodeTree(entries))
    return !encodeTree(sorted).equals(encodeTree(entries)) || sorted.length !== entries.length
  })
  t.same(differ, [])
})

const ODD_NAMES = [
  '',
  '.',
  '..',
  '.git',
  '.GIT',
  'git~1',
  'git~2',
  'GIT~1',
  '.git. ',
  '.git::$I',
  '.git\\x',
  '.gitx',
  'a/b',
]
const HFS_NAMES = [
  '\xe2\x80\x8c.git',
  '\xef\xbb\xbf.Git',
  '.g\xe2\x80\x8cit',
  '.git\xef\xbb\xbf',
  '.g\xe2\x80\x90it',
  '.g\xe2\x80it',
]
const ODD_MODES = ['040000', '0', '', '644', '100644', '40755', '777777', '100600', '8', '-1']

/** A tree with one or two things that are wrong, or not: the bytes of entries one after the other. */
function damagedTree(): Buffer {
  const entries = [...decodeTree(encodeTree(randomEntries()))]
  const at = random.int(entries.length + 1)
  const entry = entries[at] ?? { mode: '100644', name: 'zz', id: random.bytes(20).toString('hex') }
  const damage = random.pick(['name', 'mode', 'id', 'order', 'double', 'byte', 'cut'])
  if (damage === 'name') entries[at] = { ...entry, name: random.pick([...ODD_NAMES, ...HFS_NAMES]) }
  if (damage === 'mode') entries[at] = { ...entry, mode: random.pick(ODD_MODES) }
  if (damage === 'id') entries[at] = { ...entry, id: '0'.repeat(40) }
  if (damage === 'order') entries.reverse()
  if (damage === 'double') entries.splice(at, 0, { ...entry, mode: random.pick(MODES) })
  const body = Buffer.concat(
    entries.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(id, 'hex'),
    ]),
  )
  if (damage === 'byte' && body.length > 0) body[random.int(body.length)] = random.int(256)
  return damage === 'cut' ? body.subarray(0, random.int(body.length + 1)) : body
}

function accepts({ body }: GitObject): boolean {
  try {
    decodeTree(body)
    return true
  } catch {
    return false
  }
}

t.test(`git fsck --strict refuses the same, and padded modes besides (seed ${random.seed})`, async (t) => {
  const store = createStore(t.testdir())
  const trees = Array.from({ length: sized(800, 20_000) }, () => makeObject('tree', damagedTree()))
  store.git(['index-pack', '--stdin'], await writtenPack(trees))
  const padded = ['-c', 'fsck.zeroPaddedFilemode=ignore']
  const { output } = store.attempt([...padded, 'fsck', '--strict', '--no-dangling'])
  // The objects that the trees name are missing, which is another thing.
  const errors = output.matchAll(/^error in tree ([0-9a-f]{40}): (?!broken links)/gm)
  const refused = new Set(Array.from(errors, ([, id]) => id))
  const differ = trees.filter((tree) => accepts(tree) === refused.has(tree.id))
  t.same(
    differ.map(({ id, body }) => ({
      body: body.toString('latin1'),
      git: output.split('\n').filter((line) => line.includes(id)),
    })),
    [],
  )
  t.ok(refused.size > 100)
})

t.test('a mode of more digits than Git writes is refused', async (t) => {
  const body = encodeTree([{ mode: '1006440', name: 'a', id: '1'.repeat(40) }])
  t.throws(() => decodeTree(body), { reason: 'NotSupported', message: /broken object/ })
})

t.test('modes are shown as git ls-tree does', async (t) => {
  const modes = ['100664', '100600', '100775', '40000', '40755', '120000', '120777', '160000']
  t.same(modes.map(canonicalMode), [
    '100644',
    '100644',
    '100755',
    '040000',
    '040000',
    '120000',
    '120000',
    '160000',
  ])
})
