import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RECORDED, readResults, type Results } from '../results.ts'
import { chartsOf } from './charts.ts'
import { pageOf } from './page.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The files that show a run: docs/performance.md and its charts, by their paths below the project's folder. */
export function filesOf(results: Results): ReadonlyMap<string, string> {
  const charts = chartsOf(results)
  return new Map([
    ['docs/performance.md', pageOf(results, [...charts.keys()])],
    ...[...charts].map(([name, svg]) => [`docs/performance/${name}.svg`, svg] as const),
  ])
}

/** Makes them from the last recorded run. */
export async function renderPage(): Promise<void> {
  for (const [path, text] of filesOf(await readResults(RECORDED))) {
    await mkdir(dirname(join(ROOT, path)), { recursive: true })
    await writeFile(join(ROOT, path), text)
  }
}
