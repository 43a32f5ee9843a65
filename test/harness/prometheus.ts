import { join } from 'node:path'
import { findGo } from './control-plane-binaries.ts'
import { buildGoTools, type GoTools, type Missing, type Search } from './go-build.ts'

/** Paths of Prometheus' programs. */
export interface PrometheusBinaries {
  readonly promtool: string
  readonly prometheus: string
}

const PROMETHEUS: GoTools = {
  module: join(import.meta.dirname, '../prometheus'),
  name: 'prometheus',
  packages: ['promtool', 'prometheus'].map((name) => `github.com/prometheus/prometheus/cmd/${name}`),
  programs: ['promtool', 'prometheus'],
  shown: (goMod) => `Prometheus ${/prometheus\/prometheus (v\S+)/.exec(goMod)?.[1] ?? ''}`,
  minutes: 4,
  withoutGo: 'There is no Go to build Prometheus.',
  // Without the clients of clouds, which find targets there, and without the files of its pages.
  flags: () => ['-tags', 'remove_all_sd', '-ldflags', '-s -w'],
}

/** Builds promtool and Prometheus from test/prometheus into the user's cache folder, unless they are there. */
export async function findPrometheus(search: Search): Promise<PrometheusBinaries | Missing> {
  const folder = await buildGoTools(PROMETHEUS, await findGo(search), search)
  if (typeof folder !== 'string') return folder
  return { promtool: join(folder, 'promtool'), prometheus: join(folder, 'prometheus') }
}
