import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { pictureOf } from '../../demo/recording/picture.ts'
import { tokensOf } from '../../demo/recording/terminal.ts'

t.test('styles end where the terminal ends them, and other sequences are dropped', async (t) => {
  t.strictSame(tokensOf('\x1b[1m\x1b[32mon\x1b[39m bold\x1b[22m off\x1b[K\x1b[m'), [
    { text: 'on', codes: [1, 32] },
    { text: ' bold', codes: [1] },
    { text: ' off', codes: [] },
  ])
})

t.test('a line appears when it did, after pauses of at most 1.5 s, and is text', async (t) => {
  const lines = [
    { text: '\x1b[31m-a: <b> & "c"\x1b[m', atMs: 500 },
    { text: 'later', atMs: 60_500 },
  ]
  const picture = pictureOf(lines, 'A & B')
  t.match(picture, '<title>A &amp; B</title>')
  t.match(picture, 'delay:0.50s"><tspan fill="#ff7b72">-a: &lt;b&gt; &amp; &quot;c&quot;</tspan></text>')
  t.match(picture, 'delay:2.00s">later</text>')
})

t.test('the recording in the README is of the demo as it is', async (t) => {
  const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  const titles = [...read('demo/story/acts.ts').matchAll(/print\.title\('(.+)'\)/g)].map(([, title]) => title)
  t.equal(titles.length, 5)
  for (const title of titles) t.match(read('docs/demo.svg'), `>${title}<`)
})
