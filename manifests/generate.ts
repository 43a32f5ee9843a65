import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { chartFiles } from './chart/chart-files.ts'
import { crdFiles, referencePages } from './crd.ts'
import { dashboardText } from './dashboard.ts'

/** Writes the stale files, unless `check` is set, and returns their paths from the project's folder. */
export async function generate(root: URL, check: boolean): Promise<readonly string[]> {
  const made = new Map<string, string>([
    ...[...crdFiles()].map(([path, text]) => [`manifests/${path}`, text] as const),
    ...[...referencePages()].map(([path, text]) => [`docs/${path}`, text] as const),
    ['manifests/monitoring/dashboard.json', dashboardText()] as const,
  ])
  // The chart is made from what has just been made.
  const read = (path: string): string => made.get(path) ?? readFileSync(new URL(path, root), 'utf8')
  const notice = '# Generated from knative.yaml by "npm run generate"; edit that file instead.\n'
  made.set('overlays/knative/function.yaml', notice + read('knative.yaml'))
  for (const [path, text] of chartFiles(read)) made.set(`charts/commitlet/${path}`, text)
  const stale: string[] = []
  for (const [path, text] of made) {
    const file = new URL(path, root)
    const old = await readFile(file, 'utf8').catch(() => '')
    if (old === text) continue
    stale.push(path)
    if (check) continue
    await mkdir(new URL('./', file), { recursive: true })
    await writeFile(file, text)
  }
  return stale
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  const stale = await generate(new URL('../', import.meta.url), check)
  const verb = check ? 'is stale; run "npm run generate"' : 'written'
  for (const path of stale) process.stdout.write(`${path} ${verb}\n`)
  if (check && stale.length > 0) process.exitCode = 1
}
