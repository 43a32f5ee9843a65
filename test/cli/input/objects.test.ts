import { spawnSync } from 'node:child_process'
import { mkdirSync, truncateSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readObjects } from '../../../cli/input/objects.ts'
import { namedBy } from '../../../cli/input/words.ts'

const none = (): Promise<string> => Promise.resolve('')
const object = (name: string): string => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}`

t.test('files, the files of folders, lists, and standard input', async (t) => {
  const folder = t.testdir({
    'b.yaml': object('b'),
    'a.yml': `${object('a')}\n---\n# nothing\n`,
    'c.txt': 'x',
  })
  mkdirSync(join(folder, 'd.yaml'))
  const list = JSON.stringify({
    kind: 'List',
    items: [JSON.parse('{"apiVersion":"v1","kind":"X","metadata":{"name":"x"}}')],
  })
  const found = await readObjects([join(folder, 'b.yaml'), '-'], () => Promise.resolve(list))
  t.match(found, [
    { name: 'b', namespace: undefined },
    { kind: 'X', source: 'standard input' },
  ])
  const files = t.testdir({ 'b.yaml': object('b'), 'a.json': object('a') })
  t.same(
    (await readObjects([files], none)).map(({ name }) => name),
    ['a', 'b'],
  )
  t.same(await readObjects(['-'], () => Promise.resolve('{kind: List}')), [])
})

t.test('what cannot be read is one sentence', async (t) => {
  const folder = t.testdir({ 'wrong.yaml': 'kind: X', 'large.yaml': '' })
  truncateSync(join(folder, 'large.yaml'), 17 * 1024 * 1024)
  await t.rejects(readObjects([join(folder, 'none')], none), {
    name: 'UsageError',
    message: /cannot be read/,
  })
  mkdirSync(join(folder, 'folder.yaml'))
  const folderWithin = readObjects([folder], none)
  await t.rejects(folderWithin, { name: 'UsageError', message: /folder\.yaml cannot be read/ })
  await t.rejects(readObjects([join(folder, 'wrong.yaml')], none), {
    name: 'UsageError',
    message: /no object/,
  })
  await t.rejects(readObjects([join(folder, 'large.yaml')], none), { name: 'UsageError', message: /16 MiB/ })
})

t.test('a named pipe is read to its end, as that of a process substitution', async (t) => {
  const pipe = join(t.testdir(), 'pipe')
  spawnSync('mkfifo', [pipe])
  const writing = writeFile(pipe, object('piped'))
  t.match(await readObjects([pipe], none), [{ name: 'piped' }])
  await writing
})

t.test('what has no end is read to the limit', async (t) => {
  await t.rejects(readObjects(['/dev/zero'], none), {
    name: 'UsageError',
    message: /zero has more than 16 MiB/,
  })
  const endless = (most: number) => Promise.resolve(most < Infinity ? undefined : '')
  await t.rejects(readObjects(['-'], endless), { name: 'UsageError', message: /^standard input has more/ })
})

t.test('names as kubectl knows them', async (t) => {
  t.same(namedBy(['shop']), { kind: 'GitCommit', name: 'shop' })
  t.same(namedBy(['gpr/shop']), { kind: 'PullRequest', name: 'shop' })
  t.same(namedBy(['Secret/git']), { kind: 'Secret', name: 'git' })
  t.same(namedBy(['gitcommits.commitlet.dev/shop']), { kind: 'GitCommit', name: 'shop' })
  t.throws(() => namedBy(['pod/x']), { name: 'UsageError', message: /"pod" is no kind/ })
  t.throws(() => namedBy(['gitcommit/x/y']), { name: 'UsageError' })
  t.throws(() => namedBy(['Not A Name']), { name: 'UsageError', message: /names no object/ })
})
