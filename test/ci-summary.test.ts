import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const summary = join(import.meta.dirname, '..', '.ci', 'summary')

void t.test('the last line of CI counts the tests, whatever bytes their titles hold', async (t) => {
  const report =
    'ok 1 - a \0 byte and half a letter: \xc3\n# { total: 20447, pass: 20440, skip: 7 }\n# time=72\n'
  t.same(summaryOf(t.testdir(), report, 0), { code: 0, line: '20440 passed, 0 failed, 7 skipped\n' })
})

void t.test('failures of tests and of other steps are added up', async (t) => {
  const report = '# { total: 9, pass: 6, fail: 2, skip: 1 }\n'
  t.same(summaryOf(t.testdir(), report, 1), { code: 1, line: '6 passed, 3 failed, 1 skipped\n' })
})

void t.test('a run without tests has failed', async (t) => {
  t.same(summaryOf(t.testdir(), 'npm error\n', 0), { code: 1, line: '0 passed, 1 failed\n' })
  t.same(summaryOf(t.testdir(), 'npm error\n', 2), { code: 1, line: '0 passed, 2 failed\n' })
})

void t.test('which tests failed, and how, is said again before the last line', async (t) => {
  const report = `TAP version 14
    # Subtest: test/a.test.ts
        # Subtest: a commit lands
            ok 1 - in time
            not ok 2 - once
              ---
              diff: two \xff
              ...
            ok 3 - in order
              ---
              of another test
              ...
        not ok 1 - a commit lands # time=7ms
          ---
          source: of the parent
          ...
    not ok 1 - test/a.test.ts # time=9ms
# { total: 3, pass: 2, fail: 1 }
`
  const script = `"$0" "$1" 0; true`
  const file = join(t.testdir(), 'report')
  writeFileSync(file, Buffer.from(report, 'latin1'))
  const printed = execFileSync('bash', ['-c', script, summary, file]).toString('latin1')
  t.equal(
    printed,
    `Failed:
            not ok 2 - once
              ---
              diff: two \xff
              ...
        not ok 1 - a commit lands # time=7ms
    not ok 1 - test/a.test.ts # time=9ms
2 passed, 1 failed
`,
  )
})

function summaryOf(folder: string, report: string, broken: number): { code: number; line: string } {
  const file = join(folder, 'report')
  writeFileSync(file, Buffer.from(report, 'latin1'))
  const script = `"$0" "$1" ${broken}; echo $?`
  const [line, code] = execFileSync('bash', ['-c', script, summary, file])
    .toString()
    .split(/(?<=\n)/)
  return { code: Number(code), line: line ?? '' }
}
