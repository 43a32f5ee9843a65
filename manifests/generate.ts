import { readFile, writeFile } from 'node:fs/promises'
import { crdFiles } from './crd.ts'
import { dashboardText } from './dashboard.ts'

/** Writes the stale files, unless `check` is set, and returns their paths. */
export async function generate(folder: URL, check: boolean): Promise<readonly string[]> {
  const stale: string[] = []
  for (const [path, text] of [...crdFiles(), ['monitoring/dashboard.json', dashboardText()] as const]) {
    const file = new URL(path, folder)
    const old = await readFile(file, 'utf8').catch(() => '')
    if (old === text) continue
    stale.push(path)
    if (!check) await writeFile(file, text)
  }
  return stale
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  const stale = await generate(new URL('./', import.meta.url), check)
  const verb = check ? 'is stale; run "npm run generate"' : 'written'
  for (const path of stale) process.stdout.write(`manifests/${path} ${verb}\n`)
  if (check && stale.length > 0) process.exitCode = 1
}
