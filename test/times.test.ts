import t from 'tap'
import { timed, timesTable } from './times.ts'

t.test('processes are shown by what they took, each above its files', async (t) => {
  const notes = [
    { name: 'test/a.test.ts', process: '2-a.test.ts', cpu: 1, wall: 2 },
    { name: 'test/b.test.ts', process: '2-a.test.ts', cpu: 1.25, wall: 2 },
    { name: '2-a.test.ts', process: '2-a.test.ts', cpu: 3, wall: 12.5 },
    { name: 'c.test.ts', process: 'c.test.ts', cpu: 40, wall: 4 },
  ]
  t.equal(
    timesTable(notes.map((note) => `${JSON.stringify(note)}\n`).join('')),
    [
      'CPU s  clock s',
      ' 40.00    4.00  c.test.ts',
      '  3.00   12.50  2-a.test.ts',
      '    1.25    2.00  test/b.test.ts',
      '    1.00    2.00  test/a.test.ts',
      '43.00 CPU s in 2 processes',
      '',
    ].join('\n'),
  )
})

t.test('without --times nothing is noted', async (t) => {
  t.doesNotThrow(timed('test/a.test.ts'))
})
