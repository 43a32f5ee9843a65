import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withTables } from '../../bench/scale/page.ts'
import { scaleTables } from '../../bench/scale/tables.ts'

const PAGE = join(import.meta.dirname, '../../docs/scale.md')

t.test('the tables of the page are what the simulation prints', async (t) => {
  const page = readFileSync(PAGE, 'utf8')
  t.equal(page, withTables(page, scaleTables()), 'npm run bench:scale -- --write')
})

t.test('a table has its place between two comments, and a page without one is refused', async (t) => {
  t.equal(withTables('a <!-- x -->old<!-- /x --> b', { x: 'new' }), 'a <!-- x -->\n\nnew\n\n<!-- /x --> b')
  t.throws(() => withTables('a', { x: 'new' }), /table x/)
})
