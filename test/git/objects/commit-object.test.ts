import t from 'tap'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import {
  committedAt,
  decodeCommit,
  encodeCommit,
  treeOfCommit,
} from '../../../functions/git/objects/commit-object.ts'

const TREE = '1'.repeat(40)
const PARENT = '2'.repeat(40)
const HEAD = `tree ${TREE}\nparent ${PARENT}\nauthor A <a@example.com> 5 +0100\ncommitter B <b@example.com> 7 -0030\n`

// That its bytes are those of git fast-import is tested in splice.test.ts.
t.test('a commit is read as it was written', async (t) => {
  const message = 'Write ü\n\nCommitlet-Id: 1\n'
  const parts = { tree: TREE, parents: [PARENT, TREE], message }
  const author = { name: 'Ada', email: 'ada@example.com' }
  const { body } = encodeCommit({ ...parts, author, date: new Date('2026-11-21T12:00:00.900Z') })
  t.same(decodeCommit(body), { ...parts, message: Buffer.from(message) })
})

t.test("a commit's other headers are skipped, whatever is in them", async (t) => {
  const signature = `gpgsig -----BEGIN\n \n tree ${PARENT}\n parent ${TREE}\n committer X <x> 1 +0000\n`
  t.same(decodeCommit(Buffer.from(`${HEAD}${signature}encoding latin1\n\n\nlate\n\nend`)), {
    tree: TREE,
    parents: [PARENT],
    message: Buffer.from('\nlate\n\nend'),
  })
})

t.test('a commit may have no parent and no message', async (t) => {
  const none = { tree: TREE, parents: [], message: Buffer.alloc(0) }
  for (const rest of ['', '\n', '\n\n', '\ncommitter A <a> x\n'])
    t.same(decodeCommit(Buffer.from(`tree ${TREE}${rest}`)), none, JSON.stringify(rest))
})

t.test('a commit without a tree, or with half a name, is refused', async (t) => {
  for (const text of [
    '',
    '\n\n',
    'tree',
    `tree ${TREE}1\n`,
    `tree ${TREE.slice(1)}`,
    `tree ${TREE.slice(1)}\n\n`,
    `parent ${TREE}\n`,
    `tree ${TREE}\nparent 12\n\n`,
    `tree ${TREE}\nparent ${TREE}1\n\n`,
  ])
    t.throws(
      () => decodeCommit(Buffer.from(text)),
      { reason: 'NotSupported', message: /broken object/ },
      JSON.stringify(text),
    )
})

// A tip is read in each round of each attempt.
t.test('the tree of a commit is read without the rest of it, whatever that is', async (t) => {
  for (const line of ['x', `parent ${PARENT}`, 'parent 12', `tree ${PARENT}`]) {
    const body = Buffer.from(`tree ${TREE}\n${`${line}\n`.repeat(500_000)}\n`)
    const before = cpuTime()
    for (let times = 0; times < 100; times += 1) treeOfCommit(body)
    t.ok(cpuTime() - before < allowedMs(10), line)
    t.equal(treeOfCommit(body), TREE)
  }
})

t.test('a commit with 200,000 parents is refused before they are read', async (t) => {
  const parents = `parent ${PARENT}\n`.repeat(200_000)
  const body = Buffer.from(`tree ${TREE}\n${parents}author A <a@example.com> 5 +0100\n\nm\n`)
  t.throws(() => decodeCommit(body), { reason: 'NotSupported', message: /more than 1 MiB/ })
  const fewer = body.toString().replace(parents, `parent ${PARENT}\n`.repeat(20_000))
  t.equal(decodeCommit(Buffer.from(fewer)).parents.length, 20_000)
})

t.test("a commit has the committer's date, or none", async (t) => {
  const by = 'A <a@b.c> 1700000000 +0100'
  const later = 'B > C <b@c.d> 1800000000 -0330'
  const message = '\n\nmessage\ncommitter E <e@f.g> 1900000000 +0000\n'
  for (const [text, seconds] of [
    [`tree ${TREE}\nauthor ${by}\ncommitter ${later}${message}`, 1_800_000_000],
    [`tree ${TREE}\nauthor ${by}\ncommitter ${later}`, 1_800_000_000],
    [`tree ${TREE}\nauthor ${by}\ncommitter B <b@c.d>${message}`, 0],
    [`tree ${TREE}\nauthor ${by}\ncommitter B <b@c.d> x +0000${message}`, 0],
    [`tree ${TREE}\nauthor ${by}${message}`, 0],
    [`tree ${TREE}`, 0],
    ['', 0],
  ] as const)
    t.equal(committedAt(Buffer.from(text)), seconds, text)
})
