import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { judge } from '../fixtures/parsed.ts'
import { reviewContext } from '../fixtures/review-context.ts'
import { MISTAKES, mistakesTable, specOf } from './usual-mistakes.ts'

for (const mistake of MISTAKES) {
  t.test(`a usual mistake is answered with what to do: ${mistake.says.slice(0, 60)}`, async (t) => {
    const { fieldErrors, warnings } = await judge(specOf(mistake), reviewContext())
    const errors = fieldErrors.map(({ message }) => message).join(' ')
    t.strictSame(
      [errors, warnings.join(' ')],
      mistake.warning === true ? ['', mistake.says] : [mistake.says, ''],
    )
  })
}

t.test('no sentence repeats what may be a secret', async (t) => {
  for (const { says } of MISTAKES) t.notMatch(says, /PASSWORD|ghp_/)
})

t.test('docs/troubleshooting.md has all of them', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/troubleshooting.md'), 'utf8')
  const [, table] = /<!-- mistakes -->\n([^]*?)\n<!-- \/mistakes -->/.exec(page) ?? []
  t.equal(table, mistakesTable(), 'put these rows into docs/troubleshooting.md')
})
