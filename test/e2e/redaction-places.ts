import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The content of every file below the folder; what is removed meanwhile, folders too, is left out. */
export async function contentsBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const contents = entries.map(async (entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return contentsBelow(path)
    return entry.isFile() ? readFile(path, 'latin1').catch(() => '') : ''
  })
  return (await Promise.all(contents)).join('\n')
}
