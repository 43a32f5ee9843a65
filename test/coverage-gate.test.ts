import t from 'tap'
import { isTypesOnly, judge, readLcov, type FileCoverage } from './coverage-gate.ts'

const LCOV = `TN:
SF:functions/app.ts
FN:1,main
DA:1,1
DA:2,0
DA:3,0
DA:5,0
BRDA:1,0,0,1
end_of_record
TN:
SF:webhook/app.ts
DA:1,12
end_of_record
`

function report(files: Record<string, FileCoverage>): ReadonlyMap<string, FileCoverage> {
  return new Map(Object.entries(files))
}

t.test('an lcov report is read by source file', (t) => {
  t.same(
    [...readLcov(LCOV)],
    [
      ['functions/app.ts', { lines: 4, missed: [2, 3, 5] }],
      ['webhook/app.ts', { lines: 1, missed: [] }],
    ],
  )
  t.equal(readLcov('').size, 0)
  t.end()
})

t.test('each shortfall is one line that says which lines no test ran', (t) => {
  const good = { lines: 1000, missed: [] }
  const rows: [string, string[], Record<string, FileCoverage>, string[]][] = [
    ['all is covered', ['a.ts'], { 'a.ts': good }, []],
    ['a file just enough', ['a.ts', 'b.ts'], { 'a.ts': good, 'b.ts': { lines: 20, missed: [7] } }, []],
    [
      'a file a little short',
      ['a.ts', 'b.ts'],
      { 'a.ts': good, 'b.ts': { lines: 20, missed: [2, 3, 4, 9] } },
      ['b.ts: 80.0 % of its lines are covered, not 2-4, 9.'],
    ],
    ['a file that no test loads', ['a.ts', 'b.ts'], { 'a.ts': good }, ['b.ts: no test loads it.']],
    [
      'files that are each enough and together are not',
      ['a.ts'],
      { 'a.ts': { lines: 100, missed: [1, 2, 3, 4] } },
      ['Of all lines 96.0 % are covered, 98 % have to be.'],
    ],
    ['other files do not count', ['a.ts'], { 'a.ts': good, 'test/x.ts': { lines: 1000, missed: [1] } }, []],
    ['no file at all', [], {}, ['Of all lines 0.0 % are covered, 98 % have to be.']],
  ]
  for (const [what, files, covered, complaints] of rows)
    t.same(judge(files, report(covered)), complaints, what)
  t.end()
})

t.test('only a file without code need not be loaded', (t) => {
  t.ok(
    isTypesOnly(
      "import type { A } from './a.ts'\n/** One. */\nexport interface B { readonly a: A }\nexport type C = B\n",
    ),
  )
  t.notOk(isTypesOnly('export interface B {}\nexport const C = 1\n'))
  t.end()
})
