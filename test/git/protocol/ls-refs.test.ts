import t from 'tap'
import { lsRefsCommand, readListedRefs } from '../../../functions/git/protocol/ls-refs.ts'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'

const ID = '1'.repeat(40)
const NAMES = ['HEAD', 'refs/heads/größe', 'refs/heads/b']
const read = (...lines: readonly string[]) =>
  readListedRefs(Buffer.concat([...lines.map((line) => packet(`${line}\n`)), FLUSH]), NAMES)

t.test('the request names version 2, its capabilities and the prefixes', async (t) => {
  t.equal(
    lsRefsCommand(['HEAD', 'refs/heads/main']).toString(),
    '0014command=ls-refs\n0018agent=git/commitlet\n0017object-format=sha1\n0001000csymrefs\n' +
      '0014ref-prefix HEAD\n001fref-prefix refs/heads/main\n0000',
  )
  t.match(lsRefsCommand(['HEAD'], true).toString(), '000csymrefs\n000bunborn\n0014ref-prefix HEAD\n')
})

t.test(
  'of the listed refs those are kept that were looked for, symbolic ones with their target',
  async (t) => {
    const { named, any } = read(
      `${ID} HEAD symref-target:refs/heads/größe`,
      `${ID} refs/heads/größe`,
      `${ID} refs/heads/größer`,
      `${ID} refs/heads/b peeled:${ID} x:y`,
      `${ID} refs/heads/b-2`,
      `${ID} refs/heads/`,
      'unborn refs/heads/c',
    )
    t.same(
      [...named],
      [
        ['HEAD', { id: ID, target: 'refs/heads/größe' }],
        ['refs/heads/größe', { id: ID, target: undefined }],
        ['refs/heads/b', { id: ID, target: undefined }],
      ],
    )
    t.ok(any)
  },
)

t.test('of a ref that is listed twice the first line counts', async (t) => {
  const { named } = read(`${ID} HEAD`, `${ID.replaceAll('1', '2')} HEAD`)
  t.equal(named.get('HEAD')?.id, ID)
})

t.test('a list knows whether it has any ref', async (t) => {
  t.ok(read(`${ID} refs/heads/other`).any)
  t.equal(read(`${ID} refs/heads/other`).named.size, 0)
  t.notOk(read().any)
  t.notOk(read('unborn HEAD symref-target:refs/heads/main').any)
})

t.test('a HEAD without a commit has a target, if the server tells it', async (t) => {
  t.equal(read('unborn HEAD symref-target:refs/heads/größe').unborn, 'refs/heads/größe')
  t.equal(read('unborn HEAD symref-target:refs/heads/b', `${ID} refs/heads/b`).unborn, 'refs/heads/b')
  for (const line of [
    'unborn HEAD',
    'unborn HEADS symref-target:x',
    'unborn x symref-target:y',
    `${ID} HEAD`,
  ])
    t.equal(read(line).unborn, undefined, line)
})

for (const [code, answer] of [
  ['UNEXPECTED', ''],
  ['UNEXPECTED', '<html>'],
  ['UNEXPECTED', '00000000'],
  ['UNEXPECTED', '00010000'],
  ['UNEXPECTED', `${packet(`${'1'.repeat(64)} refs/heads/main\n`).toString()}0000`],
  ['UNEXPECTED', `${packet(`${ID}\n`).toString()}0000`],
  ['UNEXPECTED', `${packet(`${ID} \n`).toString()}0000`],
  ['UNEXPECTED', `${packet(`${ID.replace('1', 'G')} refs/heads/main\n`).toString()}0000`],
  ['TRUNCATED', packet(`${ID} HEAD\n`).toString()],
  ['REMOTE', packet('ERR this needs a licence\n').toString()],
] as const)
  t.test(`${code}: ${JSON.stringify(answer)}`, async (t) => {
    t.throws(() => readListedRefs(Buffer.from(answer), NAMES), { code })
  })
