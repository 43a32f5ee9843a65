import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { unifiedDiff } from '../../../cli/render/diff.ts'

const bytes = (text: string | undefined): Uint8Array | undefined =>
  text === undefined ? undefined : Buffer.from(text)
const diff = (before: string | undefined, after: string | undefined): readonly string[] =>
  unifiedDiff({ path: 'a.md', before: bytes(before), after: bytes(after) })

t.test('new, removed, changed and equal files', async (t) => {
  t.same(diff(undefined, 'x\n'), ['--- /dev/null', '+++ b/a.md', '@@ -0,0 +1 @@', '+x'])
  t.same(diff('x\n', undefined), ['--- a/a.md', '+++ /dev/null', '@@ -1 +0,0 @@', '-x'])
  t.same(diff('x\n', 'x\n'), [])
  t.same(diff('a\nb\n', 'a\nc'), [
    ...['--- a/a.md', '+++ b/a.md', '@@ -1,2 +1,2 @@', ' a', '-b'],
    '+c\n\\ No newline at end of file',
  ])
  t.same(diff('a\u0000', 'b\u0000'), ['--- a/a.md', '+++ b/a.md', 'Binary files differ'])
  t.same(diff('', 'x\n').slice(2), ['@@ -0,0 +1 @@', '+x'])
})

t.test('two changes far apart are two hunks', async (t) => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`)
  const changed = lines.map((line, i) => (i === 2 || i === 25 ? `${line}!` : line))
  const hunks = diff(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`).filter((line) =>
    line.startsWith('@@'),
  )
  t.same(hunks, ['@@ -1,6 +1,6 @@', '@@ -23,7 +23,7 @@'])
})

t.test('very many lines are one change', async (t) => {
  const lines = (mark: string): string => Array.from({ length: 6000 }, (_, i) => `${mark}${i}\n`).join('')
  t.equal(diff(lines('a'), lines('b')).length, 3 + 12_000)
})

t.test('git applies what it says', async (t) => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 8 })
    .map((lines) => lines.map((l) => `${l}\n`).join(''))
  let count = 0
  fc.assert(
    fc.property(text, text, (before, after) => {
      const patch = diff(before, after)
      if (patch.length === 0 || before === '' || after === '') return
      const folder = t.testdir({ 'a.md': before })
      execFileSync('git', ['apply', '--unidiff-zero', '-p1', '-'], {
        cwd: folder,
        input: `${patch.join('\n')}\n`,
        env: { ...process.env, GIT_CEILING_DIRECTORIES: join(folder, '..') },
      })
      if (execFileSync('cat', [join(folder, 'a.md')]).toString() !== after) throw new Error(patch.join('\n'))
      count += 1
    }),
    { numRuns: 15 },
  )
  t.ok(count > 3)
})
