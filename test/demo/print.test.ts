import t from 'tap'
import { alignColumns, makePrinter } from '../../demo/print.ts'

const STREAMS = [
  { title: 'a terminal gets colours', isTTY: true, env: {}, colour: true },
  { title: 'an empty NO_COLOR changes nothing', isTTY: true, env: { NO_COLOR: '' }, colour: true },
  { title: 'NO_COLOR turns colours off', isTTY: true, env: { NO_COLOR: '1' }, colour: false },
  { title: 'a pipe gets no colours', isTTY: false, env: { FORCE_COLOR: '1' }, colour: false },
]
for (const { title, isTTY, env, colour } of STREAMS) {
  t.test(title, async (t) => {
    const written: string[] = []
    const print = makePrinter({ isTTY, write: (text) => written.push(text) }, env)
    print.title('Start')
    print.command('git log')
    print.step('the function', 12.6)
    print.done('committed')
    print.refused('denied')
    print.yaml('kind: X\nspec: { a-b: c:d }\n')
    t.equal(print.colour, colour)
    t.equal(written.join('').includes('\x1b['), colour)
    if (!colour)
      t.equal(
        written.join(''),
        '\nStart\n\n$ git log\n    13 ms  the function\n✔ committed\n✖ denied\n  kind: X\n  spec: { a-b: c:d }\n',
      )
    else t.match(written.join(''), 'spec\x1b[39m: { \x1b[36ma-b\x1b[39m: c:d }', 'only keys')
  })
}

t.test('columns are as wide as their widest cell', async (t) => {
  const rows = [
    ['NAME', 'READY', 'MESSAGE'],
    ['shop', 'True', 'Committed as 0123.'],
    ['shop-features', '', ''],
  ]
  t.same(alignColumns(rows), [
    'NAME            READY   MESSAGE',
    'shop            True    Committed as 0123.',
    'shop-features',
  ])
})
