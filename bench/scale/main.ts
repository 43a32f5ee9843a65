import { readFile, writeFile } from 'node:fs/promises'
import { withTables } from './page.ts'
import { scaleTables } from './tables.ts'

/**
 * `npm run bench:scale` prints the tables of docs/scale.md, `-- --write` puts them into the page, and `-- --real` measures
 * bursts with real processes.
 */
const PAGE = new URL('../../docs/scale.md', import.meta.url)

if (process.argv.includes('--real')) await (await import('./real/measure-all.ts')).measureAll()
else {
  const tables = scaleTables()
  for (const [name, table] of Object.entries(tables)) process.stdout.write(`${name}\n\n${table}\n\n`)
  if (process.argv.includes('--write'))
    await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), tables))
}
