import { existsSync } from 'node:fs'
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bundlesIn } from './bundles.ts'
import { THREADS } from './harness/programs.ts'

const NO_THREAD = { text: '', cache: '' }
const NO_THREADS = { 'git/ssh/threads': NO_THREAD, edits: NO_THREAD }

t.test('bundles are made once for the same sources, and the oldest of others are removed', async (t) => {
  const cache = t.testdir()
  let made = 0
  const bundle = async (folder: string) => {
    made += 1
    await writeFile(join(folder, 'function.cjs'), '')
    return NO_THREADS
  }
  const used = await bundlesIn(cache, bundle)
  t.ok(existsSync(join(used, 'function.cjs')))
  t.same(JSON.parse(await readFile(join(used, THREADS), 'utf8')), NO_THREADS)
  for (const age of [1, 2, 3, 4, 5]) {
    const folder = join(cache, `of-${age}`)
    await mkdir(folder)
    await utimes(folder, new Date(), new Date(Date.now() - age * 3_600_000))
  }
  t.equal(await bundlesIn(cache, bundle), used)
  t.equal(made, 1)
  t.ok(existsSync(used))
  t.ok(existsSync(join(cache, 'of-4')))
  t.notOk(existsSync(join(cache, 'of-5')))
})

t.test('what could not be bundled leaves nothing that is used', async (t) => {
  const cache = t.testdir()
  await t.rejects(
    bundlesIn(cache, () => Promise.reject(new Error('no'))),
    /no/,
  )
  const used = await bundlesIn(cache, async () => NO_THREADS)
  t.ok(existsSync(join(used, THREADS)))
})
