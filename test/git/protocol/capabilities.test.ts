import t from 'tap'
import { checkCapabilities } from '../../../functions/git/protocol/capabilities.ts'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'

const USUAL = ['version 2', 'agent=git/2.39.5', 'ls-refs=unborn', 'fetch=shallow wait-for-done filter']
const check = (...lines: readonly string[]) =>
  checkCapabilities(Buffer.concat([...lines.map((line) => packet(`${line}\n`)), FLUSH]))

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
