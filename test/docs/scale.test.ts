import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { withTables } from '../../bench/scale/page.ts'
import { SCALE_TABLES, scaleTables } from '../../bench/scale/tables.ts'
import { sample } from '../harness/sample.ts'

const PAGE = join(import.meta.dirname, '../../docs/scale.md')

t.test('the tables of the page are what the simulation prints', async (t) => {
  const page = readFileSync(PAGE, 'utf8')
  // A change of the simulation changes nearly all of them.
  const names = sample(SCALE_TABLES, (name) => (name === 'points' ? 'as measured' : 'as predicted'))
  const again = withTables(page, scaleTables(names))
  t.equal(page, again, `${names.join(' and ')}: npm run bench:scale -- --write`)
})

t.test('a table has its place between two comments, and a page without one is refused', async (t) => {
  t.equal(withTables('a <!-- x -->old<!-- /x --> b', { x: 'new' }), 'a <!-- x -->\n\nnew\n\n<!-- /x --> b')
  t.throws(() => withTables('a', { x: 'new' }), /table x/)
})
