import { join } from 'node:path'
import { buildGoTools, type GoTools, type Missing, type Search } from './go-build.ts'

/** Paths of the three programs. */
export interface Binaries {
  readonly apiServer: string
  readonly etcd: string
  readonly kubectl: string
}

const CONTROL_PLANE: GoTools = {
  module: join(import.meta.dirname, '../control-plane'),
  name: 'control-plane',
  packages: ['k8s.io/kubernetes/cmd/kube-apiserver', 'go.etcd.io/etcd/server/v3'],
  programs: ['kube-apiserver', 'server'],
  shown: (goMod) => `kube-apiserver ${versionIn(goMod)[0] ?? ''} and etcd`,
  minutes: 6,
  withoutGo: 'There is no kube-apiserver with etcd (set KUBEBUILDER_ASSETS) and no Go to build them.',
  // Without these the API server reports v0.0.0-master, which clients refuse as too old.
  flags(goMod) {
    const version = versionIn(goMod)
    const stamps = ['gitVersion', 'gitMajor', 'gitMinor'].map(
      (name, i) => `-X k8s.io/component-base/version.${name}=${version[i] ?? ''}`,
    )
    return ['-ldflags', ['-s -w', ...stamps].join(' ')]
  },
}

/** Builds kube-apiserver and etcd from test/control-plane into the user's cache folder, unless they are there. */
export async function buildOnce(
  go: string | undefined,
  search: Search,
): Promise<Omit<Binaries, 'kubectl'> | Missing> {
  const folder = await buildGoTools(CONTROL_PLANE, go, search)
  if (typeof folder !== 'string') return folder
  return { apiServer: join(folder, 'kube-apiserver'), etcd: join(folder, 'server') }
}

/** Full version, major and minor of kube-apiserver. */
function versionIn(goMod: string): readonly string[] {
  return /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/.exec(goMod)?.slice(1) ?? []
}
