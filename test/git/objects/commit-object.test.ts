import t from 'tap'
import { decodeCommit, encodeCommit } from '../../../functions/git/objects/commit-object.ts'

const TREE = '1'.repeat(40)
const PARENT = '2'.repeat(40)
const HEAD = `tree ${TREE}\nparent ${PARENT}\nauthor A <a@example.com> 5 +0100\ncommitter B <b@example.com> 7 -0030\n`

// That its bytes are those of git fast-import is tested in splice.test.ts.
t.test('a commit is read as it was written', async (t) => {
  const parts = { tree: TREE, parents: [PARENT, TREE], message: 'Write ü\n\nCommitlet-Id: 1\n' }
  const author = { name: 'Ada', email: 'ada@example.com' }
  const { body } = encodeCommit({ ...parts, author, date: new Date('2026-11-21T12:00:00.900Z') })
  t.same(decodeCommit(body), { ...parts, committedAt: new Date('2026-11-21T12:00:00Z') })
})

t.test("a commit's other headers are skipped, whatever is in them", async (t) => {
  const signature = `gpgsig -----BEGIN\n \n tree ${PARENT}\n parent ${TREE}\n committer X <x> 1 +0000\n`
  t.same(decodeCommit(Buffer.from(`${HEAD}${signature}encoding latin1\n\n\nlate\n\nend`)), {
    tree: TREE,
    parents: [PARENT],
    committedAt: new Date(7000),
    message: '\nlate\n\nend',
  })
})

t.test('a commit may have no parent, no message and no date', async (t) => {
  const none = { tree: TREE, parents: [], committedAt: new Date(0), message: '' }
  for (const rest of [
    '',
    '\n',
    '\n\n',
    '\ncommitter A <a> x\n',
    '\ncommitter A <a> 99999999999999 +0000\n\n',
  ])
    t.same(decodeCommit(Buffer.from(`tree ${TREE}${rest}`)), none, JSON.stringify(rest))
})

t.test('a commit without a tree, or with half a name, is refused', async (t) => {
  for (const text of [
    '',
    '\n\n',
    'tree',
    `tree ${TREE}1\n`,
    `parent ${TREE}\n`,
    `tree ${TREE}\nparent 12\n\n`,
  ])
    t.throws(
      () => decodeCommit(Buffer.from(text)),
      { reason: 'NotSupported', message: /broken object/ },
      JSON.stringify(text),
    )
})

t.test('a commit with 200,000 parents is refused before they are read', async (t) => {
  const parents = `parent ${PARENT}\n`.repeat(200_000)
  const body = Buffer.from(`tree ${TREE}\n${parents}author A <a@example.com> 5 +0100\n\nm\n`)
  t.throws(() => decodeCommit(body), { reason: 'NotSupported', message: /more than 1 MiB/ })
  const fewer = body.toString().replace(parents, `parent ${PARENT}\n`.repeat(20_000))
  t.equal(decodeCommit(Buffer.from(fewer)).parents.length, 20_000)
})
