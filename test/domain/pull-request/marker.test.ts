import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { marked, readMarker, saysTheSame } from '../../../functions/domain/pull-request/marker.ts'
import type { Marked } from '../../../functions/domain/pull-request/marker.ts'
import type { PullRequestText } from '../../../functions/domain/pull-request/pull-requests.ts'
import { sized } from '../../harness/sample.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { anyCharacter } from '../../harness/any-character.ts'

const UID = '2f1c2a6e-7c55-4a0e-9d5b-0d8f0a1b2c3d'
const OTHER = '[commitlet:0000-other:0123456789abcdef]: #'
const TEXT = { title: 'New settings', body: 'Closes #12.\n\nSee there.' }

/** What is read of a pull request that the host shows with this text. */
function read({ title, body }: PullRequestText): Marked | undefined {
  return readMarker({ number: 1, url: 'https://git.example.com/1', state: 'open', title, body })
}

t.test('the marker is alone in the last line, after a blank one', async (t) => {
  t.match(marked(TEXT, UID), {
    title: 'New settings',
    body: /^Closes #12\.\n\nSee there\.\n\n\[commitlet:2f1c2a6e[0-9a-f-]+:[0-9a-f]{16}\]: #$/,
  })
  t.match(marked({ title: 'a', body: '' }, UID).body, /^\[commitlet:[^\n]+\]: #$/)
  t.match(marked({ title: ' a ', body: '\r\n a \r\n' }, UID), { title: 'a', body: /^a\n\n\[/ })
})

const BODIES: readonly (readonly [title: string, body: string])[] = [
  ['an empty one', ''],
  ['blanks alone', ' \r\n\t'],
  ['lines that end in CRLF and CR', 'one\r\ntwo\rthree'],
  ['a code fence that is left open', '```sh\nkubectl get gpr'],
  ["another resource's marker at its end", `Text\n\n${OTHER}`],
  ["another resource's marker alone", OTHER],
  ['our own marker, from a copied body', marked(TEXT, UID).body],
  ['60,000 characters', 'x'.repeat(60_000)],
  ['60,000 characters beyond the basic plane', '😀'.repeat(60_000)],
  ['lines that begin with a slash', '/close\n/label ~urgent'],
  ['a list', '- one\n- two'],
]

for (const [title, body] of BODIES) {
  t.test(`a body with ${title} is read as it was set`, async (t) => {
    const text = { title: 'New settings', body }
    const found = read(marked(text, UID))
    t.match(found, { uid: UID, edited: false })
    t.ok(found !== undefined && saysTheSame(found, text))
  })
}

t.test('whatever the text, what was set does not count as edited', async (t) => {
  const line = fc.constantFrom('', ' ', '\r', '\n', '\r\n', OTHER, 'Draft: ', '[WIP] ', '(draft)', '```', 'x')
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(line).map((parts) => parts.join('')),
  )
  const property = fc.property(text, text, (title, body) => {
    const found = read(marked({ title, body }, UID))
    return found?.uid === UID && !found.edited && saysTheSame(found, { title, body })
  })
  fc.assert(property, { numRuns: sized(200, 2_000) })
  t.pass('2,000 texts')
})

const SET = marked(TEXT, UID)

t.test('what hosts change automatically is not an edit', async (t) => {
  const changes: readonly PullRequestText[] = [
    { ...SET, body: SET.body.replaceAll('\n', '\r\n') },
    { ...SET, body: `\n${SET.body}\n \n` },
    ...['Draft: ', 'draft:', 'WIP: ', '[Draft] ', '[WIP]', '(Draft) ', 'Draft: [draft] '].map((mark) => ({
      ...SET,
      title: mark + SET.title,
    })),
  ]
  for (const changed of changes) t.match(read(changed), { uid: UID, edited: false }, JSON.stringify(changed))
})

t.test('a draft whose own title begins with such a mark is not edited either', async (t) => {
  const draft = marked({ ...TEXT, title: 'Draft: New settings' }, UID)
  for (const title of ['Draft: New settings', 'Draft: Draft: New settings', 'New settings'])
    t.match(read({ ...draft, title }), { edited: false }, title)
})

t.test('what people change is an edit', async (t) => {
  const changes: readonly PullRequestText[] = [
    { ...SET, title: 'Newer settings' },
    { ...SET, title: `Drafty ${SET.title}` },
    { ...SET, title: '' },
    { ...SET, body: `More.\n${SET.body}` },
    { ...SET, body: `${SET.body}\nA summary that a bot has written.` },
    { ...SET, body: SET.body.replace('Closes', 'Opens') },
    { ...SET, body: SET.body.replace(/[0-9a-f]\]: #$/, (end) => `${end.startsWith('0') ? '1' : '0'}]: #`) },
  ]
  for (const changed of changes) t.match(read(changed), { uid: UID, edited: true }, JSON.stringify(changed))
})

t.test('without a marker line, there is no marker', async (t) => {
  const bodies = [
    '',
    TEXT.body,
    `> ${OTHER}`,
    `Text ${OTHER}`,
    ` ${OTHER}`,
    OTHER.replace('other', 'uid with blanks'),
    OTHER.replace('0000-other', 'x'.repeat(65)),
    OTHER.replace('abcdef', 'abcde'),
    OTHER.replace('abcdef', 'ABCDEF'),
  ]
  for (const body of bodies) t.equal(read({ title: 'New settings', body }), undefined, body)
})

t.test('of several markers the last one counts, the others are text', async (t) => {
  const own = marked({ ...TEXT, body: OTHER }, UID)
  t.match(read(own), { uid: UID, edited: false, body: OTHER })
  t.match(read({ ...own, body: `${own.body}\n${OTHER}` }), { uid: '0000-other', edited: true })
})

t.test('texts are equal apart from line ends, blanks around them and the draft mark', async (t) => {
  t.ok(saysTheSame(TEXT, { title: ' Draft: New settings', body: `\r\n${TEXT.body}\n` }))
  t.notOk(saysTheSame(TEXT, { ...TEXT, title: 'New  settings' }))
  t.notOk(saysTheSame(TEXT, { ...TEXT, body: 'Closes #12.\nSee there.' }))
  t.notOk(saysTheSame({ title: 'a', body: 'b' }, { title: 'ab', body: '' }))
})

t.test('megabytes of almost markers are read quickly', async (t) => {
  const began = cpuTime()
  for (const piece of ['\n[commitlet:', OTHER, `${OTHER}\n`, '\n', ' ', '\r'])
    read({ title: piece.repeat(100_000), body: piece.repeat(100_000) })
  t.ok(cpuTime() - began < allowedMs(200))
})
