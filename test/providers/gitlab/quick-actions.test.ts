import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { withoutQuickActions, withQuickActions } from '../../../functions/providers/gitlab/quick-actions.ts'
import { sized } from '../../harness/sample.ts'
import { anyCharacter } from '../../harness/any-character.ts'

for (const [written, sent] of [
  ['/close', '\\/close'],
  ['  /close\n\t/merge', '  \\/close\n\t\\/merge'],
  ['\\/close', '\\\\/close'],
  [' \\\\/close', ' \\\\\\/close'],
  ['/', '\\/'],
  ['//', '\\//'],
  ['text\r\n/close', 'text\r\n\\/close'],
  ['a/b\n- /close\n> /x', 'a/b\n- /close\n> /x'],
  ['\\close', '\\close'],
  ['\n\n /x', '\n\n \\/x'],
  ['\u00a0/close', '\u00a0\\/close'],
  ['', ''],
] as const) {
  t.test(`${JSON.stringify(written)} is sent as ${JSON.stringify(sent)}`, async (t) => {
    t.equal(withoutQuickActions(written), sent)
    t.equal(withQuickActions(sent), written)
  })
}

t.test(
  'every text comes back as it was written, and no line of what is sent begins with a slash',
  async (t) => {
    const line = fc.string({ unit: fc.constantFrom('/', '\\', ' ', '\t', 'a', '\r', '\u2028', '\u00a0') })
    const texts = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(line).map((lines) => lines.join('\n')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const sent = withoutQuickActions(text)
        return withQuickActions(sent) === text && !/^\s*\//m.test(sent)
      }),
      { numRuns: sized(60, 2_000) },
    )
    t.pass()
  },
)
