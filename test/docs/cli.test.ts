import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { COMMANDS } from '../../cli/commands/table.ts'
import { ADVICE } from '../../cli/explain/advice.ts'
import { EXIT_CODES } from '../../cli/terminal/exit-codes.ts'

const page = (name: string): string => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8')

t.test('docs/cli.md has the rows of the table of commands, and the exit codes', async (t) => {
  const text = page('cli.md')
  const rows = [...text.matchAll(/^\| `commitlet (\w+)` \| (.+) \|$/gm)].map(([, name, about]) => [
    name,
    about,
  ])
  t.same(
    rows,
    COMMANDS.map(({ name, about }) => [name, about]),
  )
  for (const { code, meaning } of Object.values(EXIT_CODES)) t.match(text, `| ${code} | ${meaning} |`)
})

t.test('explain says what docs/troubleshooting.md says about each reason', async (t) => {
  const rows = [...page('troubleshooting.md').matchAll(/^\| ([A-Z][A-Za-z, ]+?) \| [^|]* \| (.+) \|$/gm)]
  const documented = new Map(
    rows.flatMap(([, names = '', what]) => names.split(', ').map((name) => [name, what] as const)),
  )
  for (const [reason, advice] of Object.entries(ADVICE)) t.equal(documented.get(reason), advice, reason)
})
