import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { BUNDLES, THREADS } from './harness/programs.ts'
import { timed } from './times.ts'

const ROOT = join(import.meta.dirname, '..')
const STAND_IN = new URL('./room-tap.ts', import.meta.url).href

/** The subtest of each file of this process, by the file's URL. */
const subtests = new Map<string, Test>()

/**
 * Runs test files (paths below the project's folder) in this process, one after the other, each as one subtest that
 * has its name. The `t` that a file gets from `tap` is that subtest, so that its teardowns, hooks and folders are its
 * own; a stage that several files share has those of the room. A file that cannot be loaded fails. Threads run their
 * program as it is in a bundle where there is one: each would load it from its sources for 0.2 s.
 */
export function runRoom(files: readonly string[]): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL } = context
      if (specifier !== 'tap' || parentURL === undefined || !subtests.has(parentURL))
        return nextResolve(specifier, context)
      return {
        url: `${STAND_IN}?of=${encodeURIComponent(parentURL)}`,
        format: 'module-typescript',
        shortCircuit: true,
      }
    },
    load(url, context, nextLoad) {
      const bundles = process.env[BUNDLES]
      const [, folder] = /\/functions\/(.+)\/worker-text\.ts$/.exec(url) ?? []
      if (bundles === undefined || folder === undefined) return nextLoad(url, context)
      const threads: Readonly<Record<string, unknown>> = JSON.parse(
        readFileSync(join(bundles, THREADS), 'utf8'),
      )
      const source = `export const WORKER_TEXT = ${JSON.stringify(threads[folder])}`
      return { format: 'module', source, shortCircuit: true }
    },
  })
  for (const file of files) void t.test(file, (t) => runFile(t, file))
}

/** The subtest of the file in a URL that the hook has made. */
export function subtestOf(url: string): Test {
  const file = new URL(url).searchParams.get('of') ?? ''
  const subtest = subtests.get(file)
  if (subtest === undefined) throw new Error(`${fileURLToPath(file)} is not of this room`)
  return subtest
}

async function runFile(t: Test, file: string): Promise<void> {
  const url = pathToFileURL(join(ROOT, file)).href
  subtests.set(url, t)
  // Teardowns run in reverse order: this is the last.
  t.teardown(timed(file))
  await import(url)
}
