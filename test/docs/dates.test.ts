import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const FILES = globSync(['README.md', '{docs,examples}/**/*.{md,yaml}', '{functions,webhook,demo}/**/*.ts'], {
  cwd: ROOT,
})

// BSD's date has no -I: kubectl would set an empty annotation there, which asks for nothing.
t.test('every command that takes the time does so by a date that BSD and macOS have as well', async (t) => {
  const dates = FILES.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\$\((date\b[^)]*)\)/g)].map(
      ([, command]) => `${file}: ${command}`,
    ),
  )
  t.ok(dates.length > 5, `${dates.length} commands`)
  for (const found of dates) t.match(found, /: date -u \+%FT%TZ$/)
})
