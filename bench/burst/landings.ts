import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findBinaries } from '../../test/harness/control-plane-binaries.ts'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { followLines } from '../../demo/cluster/watch.ts'

/** When GitCommits become Ready, seen by a watch of the API server. */
export interface Landings {
  /** The time (performance.now() of this process) at which each of these GitCommits, by their names, was Ready. */
  readonly of: (names: readonly string[], deadlineMs: number) => Promise<ReadonlyMap<string, number>>
  readonly stop: () => Promise<void>
}

/** After so many milliseconds without a row a list is read: a watch that falls behind loses some of thousands of rows. */
const SILENCE_MS = 3_000
const LARGEST_LIST = 64 * 1024 * 1024

/** Watches all namespaces; names must differ in all of them. A watch of this phase shows a resource once it has it. */
export async function watchLandings(plane: ControlPlane): Promise<Landings> {
  const binaries = await findBinaries({ env: process.env, say: () => undefined })
  if ('missing' in binaries) throw new Error(binaries.missing)
  const landed = new Map<string, number>()
  let look = (): void => undefined
  let heard = performance.now()
  const { kubectl } = binaries
  const everywhere = ['get', 'gitcommits', '--all-namespaces', `--kubeconfig=${plane.kubeconfig}`]
  const succeeded = [...everywhere, '--field-selector=status.phase=Succeeded']
  const stop = followLines(
    kubectl,
    [...succeeded, '--watch', '--output=jsonpath={.metadata.name}{"\\n"}'],
    (name) => {
      heard = performance.now()
      if (!landed.has(name)) landed.set(name, heard)
      look()
    },
  )

  async function lookAgain(): Promise<void> {
    if (performance.now() - heard < SILENCE_MS) return
    const names = '--output=jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}'
    const { stdout } = await promisify(execFile)(kubectl, [...succeeded, names], { maxBuffer: LARGEST_LIST })
    for (const name of stdout.split('\n')) if (!landed.has(name)) landed.set(name, performance.now())
    look()
  }
  return {
    stop,
    async of(names, deadlineMs) {
      const all = Promise.withResolvers<unknown>()
      const missing = new Set(names)
      look = () => {
        for (const name of missing) {
          if (!landed.has(name)) break
          missing.delete(name)
        }
        if (missing.size === 0) all.resolve(undefined)
      }
      look()
      const timer = setTimeout(() => all.resolve(undefined), deadlineMs)
      const looking = setInterval(() => void lookAgain().catch(() => undefined), SILENCE_MS)
      await all.promise
      clearTimeout(timer)
      clearInterval(looking)
      look = () => undefined
      return new Map(names.flatMap((name) => (landed.has(name) ? [[name, landed.get(name) ?? 0]] : [])))
    },
  }
}
