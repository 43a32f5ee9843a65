import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const FILES = globSync(['README.md', '{docs,examples}/**/*.{md,yaml}', '{functions,webhook,demo}/**/*.ts'], {
  cwd: ROOT,
})

// BSD's date has no -I: kubectl would then set an empty annotation, which requests nothing.
t.test('every command that prints the time uses options of date that BSD and macOS also have', async (t) => {
  const dates = FILES.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\$\((date\b[^)]*)\)/g)].map(
      ([, command]) => `${file}: ${command}`,
    ),
  )
  t.ok(dates.length > 5, `${dates.length} commands`)
  for (const found of dates) t.match(found, /: date -u \+%FT%TZ$/)
})
