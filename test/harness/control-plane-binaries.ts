import { delimiter, join } from 'node:path'
import { buildOnce, type Binaries } from './control-plane-build.ts'
import { isProgram, type Missing, type Search } from './go-build.ts'

const SYSTEM = { kubebuilder: '/usr/local/kubebuilder/bin', go: '/usr/local/go/bin' }

/**
 * Finds the programs as envtest does (TEST_ASSET_*, KUBEBUILDER_ASSETS, /usr/local/kubebuilder/bin; kubectl
 * in the PATH too), else in the user's cache folder, else builds them there once.
 */
export async function findBinaries(search: Search): Promise<Binaries | Missing> {
  const { env, system = SYSTEM } = search
  const path = (env['PATH'] ?? '').split(delimiter)
  const assets = [env['KUBEBUILDER_ASSETS'], system.kubebuilder]
  const kubectl = await first(env['TEST_ASSET_KUBECTL'], [...assets, ...path], 'kubectl')
  if (kubectl === undefined) return { missing: 'There is no kubectl in the PATH or in KUBEBUILDER_ASSETS.' }
  const apiServer = await first(env['TEST_ASSET_KUBE_APISERVER'], assets, 'kube-apiserver')
  const etcd = await first(env['TEST_ASSET_ETCD'], assets, 'etcd')
  if (apiServer !== undefined && etcd !== undefined) return { apiServer, etcd, kubectl }
  const go = await findGo(search)
  const built = await buildOnce(go, search)
  return 'missing' in built ? built : { ...built, kubectl }
}

/** Go, in the PATH or where its installer puts it. */
export function findGo({ env, system = SYSTEM }: Search): Promise<string | undefined> {
  return first(undefined, [...(env['PATH'] ?? '').split(delimiter), system.go], 'go')
}

async function first(
  named: string | undefined,
  folders: readonly (string | undefined)[],
  program: string,
): Promise<string | undefined> {
  const files = folders.flatMap((folder) =>
    folder === undefined || folder === '' ? [] : [join(folder, program)],
  )
  for (const file of named === undefined ? files : [named, ...files]) {
    if (await isProgram(file)) return file
  }
  return undefined
}
