import t from 'tap'
import { firstOwn, repeatedWords, type IsRepeated } from '../../../functions/git/output/repeated-words.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const AUTHOR = { name: 'Ada', email: 'ada@example.com' }

function broughtBy(...messages: readonly string[]): IsRepeated {
  const commits = messages.map((message) => ({
    files: [{ path: 'docs/read-only.md' }],
    message,
    author: AUTHOR,
    date: new Date(0),
  }))
  return repeatedWords({ url: 'https://git.example.com/acme/shop.git', branch: 'main', commits })
}

// What was brought, how a hook prints it, and whether the words are brought ones.
const PRINTED: readonly (readonly [brought: string, printed: string, isRepeated: boolean])[] = [
  ['the repository has moved', 'the repository has moved', true],
  ['the repository\nhas moved', 'the repository has moved', true], // git log --format=%s
  ['the repository\r\n\t has\n\nmoved', 'the repository has moved', true], // echo $message
  ['the repository has moved', 'the repo\nsitory has moved', true], // fold
  ['the repository has moved', '  the repository  has moved', true],
  ['The Repository HAS moved', 'the repository has moved', true],
  ['the repository "x/y" has moved', "the repository 'x/y' has moved", true],
  ['the repository \\"x/y\\" has moved', 'the repository "x/y" has moved', true],
  ['the repository has moved to https://example.com', 'the repository has moved', true], // cut
  ['docs for the repository', 'the repository has moved', false],
  ['has moved: the repository', 'the repository has moved', false],
  ['anything', 'read only', false],
  ['anything', 'read-only', true],
]
for (const [brought, printed, isRepeated] of PRINTED) {
  t.test(`${JSON.stringify(printed)} after ${JSON.stringify(brought)}: ${isRepeated}`, async (t) => {
    t.equal(broughtBy(`Fix\n\n${brought}\n\nCommitlet-Id: 1\n`)(printed), isRepeated)
  })
}

t.test('words of two texts that are printed in one line are brought, in either order', async (t) => {
  for (const messages of [
    ['the repository\n\nMore', 'has moved\n\nMore'],
    ['has moved\n\nMore', 'the repository\n\nMore'],
  ])
    t.ok(broughtBy(...messages)('the repository has moved'), messages.join())
})

t.test('the first words that were not brought count', async (t) => {
  const isRepeated = broughtBy('gone\nand\ngone')
  t.equal(firstOwn('gone and gone, gone now', /gone (?:and gone|now)/, isRepeated)?.[0], 'gone now')
  t.equal(firstOwn('gone and gone', /gone and gone/, isRepeated), undefined)
})

t.test('however much a push has brought, that is known in a moment', async (t) => {
  const texts = ['the repository has ', ' ', 'é', 't\n'].map((part) =>
    part.repeat(65_536).slice(0, 65_536 / Buffer.byteLength(part)),
  )
  for (const text of texts) {
    const isRepeated = broughtBy(...Array.from({ length: 500 }, () => text))
    const before = cpuTime()
    for (let i = 0; i < 10; i += 1) isRepeated(`the repository has moved ${i}`)
    t.ok(cpuTime() - before < allowedMs(100), `${JSON.stringify(text.slice(0, 9))}: ${cpuTime() - before} ms`)
  }
})
