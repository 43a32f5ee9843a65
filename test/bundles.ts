import { createHash } from 'node:crypto'
import { globSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundlePrograms } from '../build.ts'
import { THREADS } from './harness/programs.ts'

const ROOT = join(import.meta.dirname, '..')
/** What a bundle is made of, with the packages. */
const SOURCES = ['functions/**/*.ts', 'webhook/**/*.ts', 'build*.ts', 'package-lock.json']
/** More are of old sources. */
const KEPT = 5

/**
 * The folder with both programs and the programs of threads, bundled: one that is in the cache folder already, where the
 * sources, the packages and Node are the same. At the same place they start faster, by Node's own cache. `bundle` makes
 * them where there are none.
 */
export async function bundlesIn(
  cache: string,
  bundle: typeof bundlePrograms = bundlePrograms,
): Promise<string> {
  const folder = join(cache, await keyOf())
  await mkdir(cache, { recursive: true })
  if (!(await isThere(folder))) {
    const made = await mkdtemp(join(cache, 'new-'))
    await writeFile(join(made, THREADS), JSON.stringify(await bundle(made)))
    // Another run may have made it meanwhile.
    await rename(made, folder).catch(() => rm(made, { recursive: true, force: true, maxRetries: 5 }))
  }
  await utimes(folder, new Date(), new Date())
  await removeOld(cache)
  return folder
}

async function keyOf(): Promise<string> {
  const hash = createHash('sha256').update(process.version)
  for (const file of globSync(SOURCES, { cwd: ROOT }).sort())
    hash.update(`\0${file}\0`).update(await readFile(join(ROOT, file)))
  return hash.digest('hex').slice(0, 16)
}

function isThere(folder: string): Promise<boolean> {
  return readFile(join(folder, THREADS)).then(
    () => true,
    () => false,
  )
}

async function removeOld(cache: string): Promise<void> {
  const folders = (await readdir(cache)).map((name) => join(cache, name))
  const usedAt = (folder: string): number => statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const old = folders.toSorted((one, other) => usedAt(other) - usedAt(one)).slice(KEPT)
  for (const folder of old) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
