import t from 'tap'
import { fetchCommand, readFetched } from '../../../functions/git/protocol/fetch.ts'
import { DELIMITER, FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'

const [ONE, TWO] = ['1'.repeat(40), '2'.repeat(40)]
const PACK = packet('\u0001PACK')
const read = (...packets: readonly (string | Buffer)[]) =>
  readFetched(Buffer.concat(packets.map((one) => (typeof one === 'string' ? packet(one) : one))))

/** The lines of a request, without lengths. */
function linesOf(request: Buffer): readonly string[] {
  return request
    .toString()
    .split(
      /(?:^|\n|(?<=[a-z0-9]))(?=[0-9a-f]{4}(?:command|agent|object-|no-|ofs|deepen|filter|want|have|shallow|done|thin-))/,
    )
    .map((line) => line.slice(4).replace(/\n?(?:0001|0000)?$/, ''))
}

t.test('the tip is wanted without history and blobs', async (t) => {
  t.same(linesOf(fetchCommand({ wants: [ONE], filter: 'blob:none', depth: 1 })), [
    'command=fetch',
    'agent=git/commitlet',
    'object-format=sha1',
    'no-progress',
    'ofs-delta',
    'deepen 1',
    'filter blob:none',
    `want ${ONE}`,
    'done',
  ])
})

t.test('history is wanted since a second, and what is here is said', async (t) => {
  const depth = new Date('2026-11-22T10:00:00.999Z')
  const lines = linesOf(fetchCommand({ wants: [ONE], haves: [TWO], filter: 'tree:0', depth }))
  for (const line of [`deepen-since ${Date.parse('2026-11-22T10:00:00Z') / 1000}`, 'filter tree:0'])
    t.ok(lines.includes(line))
  for (const line of ['thin-pack', `shallow ${TWO}`, `have ${TWO}`]) t.ok(lines.includes(line))
})

t.test('the pack is read, and where the history ends', async (t) => {
  const shallow = [
    packet('shallow-info\n'),
    packet(`shallow ${ONE}\n`),
    packet(`unshallow ${TWO}\n`),
    DELIMITER,
  ]
  t.same(read(...shallow, 'packfile\n', PACK, packet('\u0002Counting\n'), packet('\u0001more'), FLUSH), {
    shallow: [ONE],
    pack: Buffer.from('PACKmore'),
    progress: 'Counting\n',
  })
  t.same(read('packfile\n', PACK, FLUSH), { shallow: [], pack: Buffer.from('PACK'), progress: '' })
})

t.test('an end before the pack is told apart from an end within it', async (t) => {
  t.equal(read('shallow-info\n'), 'no pack')
  t.throws(() => read('packfile\n', PACK), { code: 'TRUNCATED' })
})

for (const [code, ...packets] of [
  ['UNEXPECTED'],
  [
    'UNEXPECTED',
    'packfile-uris\n',
    `${ONE} https://cdn.example.com/x\n`,
    DELIMITER,
    'packfile\n',
    PACK,
    FLUSH,
  ],
  ['UNEXPECTED', 'acknowledgments\n', 'NAK\n', FLUSH],
  ['UNEXPECTED', 'shallow-info\n', 'packfile\n', PACK, FLUSH],
  ['UNEXPECTED', 'shallow-info\n', FLUSH],
  ['UNEXPECTED', 'packfile\n', PACK, FLUSH, FLUSH],
  ['UNEXPECTED', FLUSH],
  ['REMOTE', 'ERR upload-pack: not our ref\n'],
  ['REMOTE', 'packfile\n', packet('\u0003out of memory')],
] as const)
  t.test(`${code}: ${packets.map(String).join('').trim()}`, async (t) => {
    t.throws(() => read(...packets), { code })
  })
