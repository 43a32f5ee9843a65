import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminAPI } from '../../harness/admin-api.ts'
import { dataOf } from './environment.ts'
import type { Pod, Volume } from './objects.ts'

const DEFAULT_MODE = 0o644
const TOKEN_SECONDS = 3607
const TOKEN_VOLUME = 'kube-api-access'
/** Where programs look for the token of their account. */
const ACCOUNT_PATH = '/run/secrets/kubernetes.io/serviceaccount'

/** Folders of a pod's volumes, and the mount of its account. */
export interface Volumes {
  readonly folderOf: (volume: string) => string
  /** Mounted in every container; empty without an account's token. */
  readonly account: readonly { readonly name: string; readonly mountPath: string }[]
}

/** Writes Secrets, ConfigMaps, empty folders and the token of the account. They are not written again when they change. */
export async function makeVolumes(
  api: AdminAPI,
  pod: Pod,
  { folder, caPEM }: { readonly folder: string; readonly caPEM: string },
): Promise<Volumes> {
  const { volumes = [], automountServiceAccountToken = true } = pod.spec
  const folderOf = (volume: string): string => join(folder, 'volumes', volume)
  const group = pod.spec.securityContext?.fsGroup ?? 0
  for (const volume of volumes) {
    await mkdir(folderOf(volume.name), { recursive: true, mode: 0o755 })
    // Beyond the umask of this process.
    if (volume.emptyDir !== undefined) await chmod(folderOf(volume.name), 0o777)
    await write(folderOf(volume.name), { files: await filesOf(api, pod, volume), group })
  }
  if (!automountServiceAccountToken) return { folderOf, account: [] }
  const { namespace } = pod.metadata
  const files = { token: await tokenOf(api, pod), 'ca.crt': caPEM, namespace }
  await mkdir(folderOf(TOKEN_VOLUME), { recursive: true, mode: 0o755 })
  await write(folderOf(TOKEN_VOLUME), {
    files: Object.entries(files).map(([name, text]) => ({
      name,
      content: Buffer.from(text),
      mode: DEFAULT_MODE,
    })),
    group,
  })
  return { folderOf, account: [{ name: TOKEN_VOLUME, mountPath: ACCOUNT_PATH }] }
}

interface VolumeFile {
  readonly name: string
  readonly content: Buffer
  readonly mode: number
}

async function filesOf(api: AdminAPI, pod: Pod, volume: Volume): Promise<readonly VolumeFile[]> {
  const { secret, configMap } = volume
  const source = secret ?? configMap
  if (source === undefined) return []
  const kind = secret === undefined ? 'configmaps' : 'secrets'
  const name = secret?.secretName ?? configMap?.name ?? ''
  const { namespace } = pod.metadata
  const data = await dataOf(api, { namespace, kind, name, optional: source.optional ?? false })
  const items = source.items ?? Object.keys(data ?? {}).map((key) => ({ key, path: key }))
  return items.flatMap(({ key, path }) => {
    const content = data?.[key]
    return content === undefined ? [] : [{ name: path, content, mode: source.defaultMode ?? DEFAULT_MODE }]
  })
}

async function write(
  folder: string,
  { files, group }: { readonly files: readonly VolumeFile[]; readonly group: number },
): Promise<void> {
  for (const { name, content, mode } of files) {
    const file = join(folder, name)
    await writeFile(file, content, { mode })
    await chown(file, 0, group)
  }
}

async function tokenOf(api: AdminAPI, { metadata, spec }: Pod): Promise<string> {
  const account = spec.serviceAccountName ?? 'default'
  const path = `/api/v1/namespaces/${metadata.namespace}/serviceaccounts/${account}/token`
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid }
  const asked = { spec: { expirationSeconds: TOKEN_SECONDS, boundObjectRef } }
  const answered = (await api.need('POST', path, asked)) as { readonly status: { readonly token: string } }
  return answered.status.token
}
