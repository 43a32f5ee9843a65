import t from 'tap'
import { lsRefsCommand, readListedRefs } from '../../../functions/git/protocol/ls-refs.ts'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'

const ID = '1'.repeat(40)
const read = (...lines: readonly string[]) =>
  readListedRefs(Buffer.concat([...lines.map((line) => packet(`${line}\n`)), FLUSH]))

t.test('the request names version 2, its capabilities and the prefixes', async (t) => {
  t.equal(
    lsRefsCommand(['HEAD', 'refs/heads/main']).toString(),
    '0014command=ls-refs\n0018agent=git/commitlet\n0017object-format=sha1\n0001000csymrefs\n' +
      '0014ref-prefix HEAD\n001fref-prefix refs/heads/main\n0000',
  )
})

t.test('refs are listed by name, symbolic ones with their target', async (t) => {
  const refs = read(
    `${ID} HEAD symref-target:refs/heads/größe`,
    `${ID} refs/heads/größe`,
    `${ID} refs/heads/b peeled:${ID} x:y`,
    'unborn refs/heads/c',
  )
  t.same(
    [...refs],
    [
      ['HEAD', { id: ID, target: 'refs/heads/größe' }],
      ['refs/heads/größe', { id: ID, target: undefined }],
      ['refs/heads/b', { id: ID, target: undefined }],
    ],
  )
  t.equal(read().size, 0)
})

for (const [code, answer] of [
  ['UNEXPECTED', ''],
  ['UNEXPECTED', '<html>'],
  ['UNEXPECTED', '00000000'],
  ['UNEXPECTED', '00010000'],
  ['UNEXPECTED', `${packet(`${'1'.repeat(64)} refs/heads/main\n`).toString()}0000`],
  ['UNEXPECTED', `${packet(`${ID}\n`).toString()}0000`],
  ['TRUNCATED', packet(`${ID} HEAD\n`).toString()],
  ['REMOTE', packet('ERR this needs a licence\n').toString()],
] as const)
  t.test(`${code}: ${JSON.stringify(answer)}`, async (t) => {
    t.throws(() => readListedRefs(Buffer.from(answer)), { code })
  })
