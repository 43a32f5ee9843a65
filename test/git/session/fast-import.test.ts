import t from 'tap'
import type { NewCommit } from '../../../functions/git/remote.ts'
import { importStream, readMarks } from '../../../functions/git/session/fast-import.ts'

const file = { path: 'a/b.yaml', mode: '100644', content: Buffer.from('ü\n') }
const commit: NewCommit = {
  files: [file],
  message: 'Write\n',
  author: { name: 'Another Writer', email: 'writer@example.com' },
  date: new Date('2026-11-21T12:00:00.900Z'),
}
const TIP = '1'.repeat(40)

function textOf(tip: string | undefined, commits: readonly NewCommit[]): string {
  return Buffer.concat(importStream(tip, commits)).toString()
}

t.test('the commits are stacked on the tip', async (t) => {
  const by = 'Another Writer <writer@example.com> 1795262400 +0000'
  const head = (mark: number) =>
    `commit refs/new\nmark :${mark}\nauthor ${by}\ncommitter ${by}\ndata 6\nWrite\n\n`
  t.equal(
    textOf(TIP, [
      commit,
      {
        ...commit,
        files: [
          { ...file, path: 'c', mode: '100755' },
          { ...file, path: 'd' },
        ],
      },
    ]),
    `${head(1)}from ${TIP}\nM 100644 inline a/b.yaml\ndata 3\nü\n\n${head(2)}M 100755 inline c\ndata 3\nü\n\nM 100644 inline d\ndata 3\nü\n\ndone\n`,
  )
})

t.test('without a tip the first commit has no parent', async (t) => {
  t.notMatch(textOf(undefined, [commit]), /from/)
})

const paths = [
  ['"a', '"\\"a"'],
  ['a\nb\\', '"a\\nb\\\\"'],
  ['a "b" ü', 'a "b" ü'],
] as const
for (const [path, written] of paths) {
  t.test(`the path ${JSON.stringify(path)} is written as ${written}`, async (t) => {
    t.ok(
      textOf(TIP, [{ ...commit, files: [{ ...file, path }] }]).includes(`M 100644 inline ${written}\ndata`),
    )
  })
}

t.test('a name cannot add a command, and a message cannot add a NUL', async (t) => {
  const text = textOf(TIP, [
    { ...commit, message: 'a\0b', author: { name: ' A\n<x>\0 ', email: 'a>\nreset refs/heads/x' } },
  ])
  t.match(text, 'author Ax <areset refs/heads/x> 1795262400')
  t.match(text, 'data 2\nab\n')
})

t.test('marks are read in their order', async (t) => {
  t.same(readMarks([':2 b', ':1 a']), ['a', 'b'])
})
