import { join } from 'node:path'
import { findGo } from './control-plane-binaries.ts'
import { buildGoTools, type GoTools, type Missing, type Search } from './go-build.ts'

const HELM: GoTools = {
  module: join(import.meta.dirname, '../helm'),
  name: 'helm',
  packages: ['helm.sh/helm/v3/cmd/helm'],
  programs: ['helm'],
  shown: (goMod) => `Helm ${/helm\.sh\/helm\/v3 (v\S+)/.exec(goMod)?.[1] ?? ''}`,
  minutes: 4,
  withoutGo: 'There is no Go to build Helm.',
  flags: () => ['-ldflags', '-s -w'],
}

/** Path of helm, which is built from test/helm into the user's cache folder, unless it is there. */
export async function findHelm(search: Search): Promise<string | Missing> {
  const folder = await buildGoTools(HELM, await findGo(search), search)
  return typeof folder === 'string' ? join(folder, 'helm') : folder
}
