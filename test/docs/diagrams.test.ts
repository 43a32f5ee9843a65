import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { parseHTML } from 'linkedom'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')

/** Mermaid as a page has it, in a world of its own. */
function loadMermaid(): { parse(text: string): Promise<{ readonly diagramType: string }> } {
  const { window, document } = parseHTML('<html><body></body></html>')
  const world = createContext({ window, document, console, setTimeout, structuredClone })
  const file = createRequire(import.meta.url).resolve('@mermaid-js/tiny')
  runInContext(readFileSync(file, 'utf8'), world)
  return runInContext('mermaid', world)
}

t.test('Mermaid reads every diagram of the documentation, and a wrong one it does not', async (t) => {
  const mermaid = loadMermaid()
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT })]
  const diagrams = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```mermaid\n([^]*?)^```$/gm)].map(
      ([, text = '']) => ({ page, text }),
    ),
  )
  t.ok(diagrams.length > 3, `${diagrams.length} diagrams`)
  for (const { page, text } of diagrams)
    await t.resolves(mermaid.parse(text), `${page}: ${text.slice(0, 30)}`)
  await t.rejects(mermaid.parse('flowchart LR\n  a --'))
})
