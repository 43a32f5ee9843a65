import { findBinaries } from '../../test/harness/control-plane-binaries.ts'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { followLines } from '../../demo/watch.ts'

/** When GitCommits become Ready, seen by a watch of the API server. */
export interface Landings {
  /** The time (performance.now() of this process) at which each of these GitCommits, by their names, was Ready. */
  readonly of: (names: readonly string[], deadlineMs: number) => Promise<ReadonlyMap<string, number>>
  readonly stop: () => Promise<void>
}

/** Watches all namespaces; names must differ in all of them. A watch of this phase shows a resource once it has it. */
export async function watchLandings(plane: ControlPlane): Promise<Landings> {
  const binaries = await findBinaries({ env: process.env, say: () => undefined })
  if ('missing' in binaries) throw new Error(binaries.missing)
  const landed = new Map<string, number>()
  let look = (): void => undefined
  const stop = followLines(
    binaries.kubectl,
    [
      'get',
      'gitcommits',
      '--all-namespaces',
      '--watch',
      '--field-selector=status.phase=Succeeded',
      '--output=jsonpath={.metadata.name}{"\\n"}',
      `--kubeconfig=${plane.kubeconfig}`,
    ],
    (name) => {
      if (!landed.has(name)) landed.set(name, performance.now())
      look()
    },
  )
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
      await all.promise
      clearTimeout(timer)
      look = () => undefined
      return new Map(names.flatMap((name) => (landed.has(name) ? [[name, landed.get(name) ?? 0]] : [])))
    },
  }
}
