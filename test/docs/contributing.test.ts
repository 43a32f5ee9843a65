import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')

/** The folders that the table of floors and rooms names; rooms follow their floor after a dash. */
function foldersIn(page: string): readonly string[] {
  const rows = [...page.matchAll(/^\| (— )?((?:`[\w/-]+\/`(?:, )?)+) \| [^|]+ \|$/gm)]
  let floor = ''
  return rows.flatMap(([, dash, cell = '']) => {
    const names = [...cell.matchAll(/`([^`]+)\/`/g)].map(([, name]) => name ?? '')
    if (dash !== undefined) return names.map((name) => join(floor, name))
    floor = names.at(-1) ?? ''
    return names
  })
}

function foldersBelow(folder: string): readonly string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
}

t.test('a room belongs to the floor above it, and a row may name several', async (t) => {
  const table = '| `a/` | x |\n| — `b/`, `c/` | y |\n| `a/d/` | z |\n| — `e/` | z |\n'
  t.strictSame(foldersIn(table), ['a', 'a/b', 'a/c', 'a/d', 'a/d/e'])
})

t.test('the table names every floor and room', async (t) => {
  const floors = ['functions', 'functions/cluster', 'functions/domain', 'functions/git', 'webhook', 'cli']
  const real = [...floors.flatMap(foldersBelow), 'functions', 'webhook', 'cli', 'test']
  t.ok(real.length > 25, `${real.length} folders`)
  t.strictSame(foldersIn(PAGE).toSorted(), real.toSorted())
})
