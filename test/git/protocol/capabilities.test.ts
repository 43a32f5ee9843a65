import t from 'tap'
import { readCapabilities, readUnborn, requireFetches } from '../../../functions/git/protocol/capabilities.ts'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'

const USUAL = ['version 2', 'agent=git/2.39.5', 'ls-refs=unborn', 'fetch=shallow wait-for-done filter']
const said = (lines: readonly string[]) => Buffer.concat([...lines.map((line) => packet(`${line}\n`)), FLUSH])
const read = (...lines: readonly string[]) => readCapabilities(said(lines))
const check = (...lines: readonly string[]) => requireFetches(read(...lines))

t.test('version 2 with shallow and filtered fetches is what is needed', async (t) => {
  t.doesNotThrow(() => check(...USUAL))
  t.doesNotThrow(() => check(...USUAL, 'server-option', 'object-format=sha1'))
})

for (const [lines, says] of [
  [['version 1', ...USUAL.slice(1)], /version 2/],
  [[`${'1'.repeat(40)} HEAD\0agent=git`], /version 2/],
  [[], /version 2/],
  [['version 2', 'fetch=shallow'], /lacks: filter/],
  [['version 2', 'fetch=shallows filters'], /lacks: shallow, filter/],
  [['version 2', 'ls-refs'], /lacks/],
  [[...USUAL, 'object-format=sha256'], /SHA-1/],
] as const)
  t.test(`not enough: ${lines.join(', ')}`, async (t) => {
    t.throws(() => check(...lines), { code: 'UNEXPECTED', message: says })
  })

t.test('whether a HEAD without a commit is told is known over both transports', async (t) => {
  for (const [line, unborn] of [
    ['ls-refs=unborn', true],
    ['ls-refs=more unborn', true],
    ['ls-refs', false],
    ['ls-refs=unborns', false],
  ] as const) {
    const lines = ['version 2', line, 'fetch=shallow filter']
    t.same(read(...lines), { unborn, lacking: [] }, line)
    t.equal(readUnborn(said(lines)), unborn, line)
    const named = Buffer.concat([packet('# service=git-upload-pack\n'), FLUSH, said(lines)])
    t.equal(readUnborn(named), unborn, line)
  }
  t.notOk(readUnborn(said([`${'1'.repeat(40)} refs/heads/a\0ls-refs=unborn`, 'ls-refs=unborn'])), 'version 0')
  for (const other of ['', '<html>', '00ff', 'ERR no\n']) t.notOk(readUnborn(Buffer.from(other)), other)
})

t.test('refs can be asked of a server whose fetches lack something', async (t) => {
  t.same(read('version 2', 'ls-refs=unborn', 'fetch=shallow'), { unborn: true, lacking: ['filter'] })
})
