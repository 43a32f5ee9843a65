import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { SYSTEM } from './accounts.ts'
import type { ControlPlane } from './control-plane.ts'
import { waitFor } from './wait.ts'

const MINUTE = 60_000

/** Where a kubelet mounts what a pod's service account logs in with. */
const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount'
/** A folder for temporary files that only such a program sees. */
export const SMALL = '/mnt'
export const SMALL_MIB = 64
/** What the shell does in a mount namespace of its own before it becomes the program. */
const MOUNT = `set -e; folder=$1; shift; mount -t tmpfs tmpfs /var/run; mkdir -p ${MOUNTED}
  mount -t tmpfs -o size=${SMALL_MIB}m tmpfs ${SMALL}; mount --bind "$folder" ${MOUNTED}; exec "$@"`

/** The command that becomes a program that alone sees this folder at MOUNTED. */
export function mounting(folder: string): readonly [string, ...string[]] {
  return ['unshare', '--mount', 'sh', '-c', MOUNT, 'sh', folder]
}

/** Why there can be no mount namespace here: only root may make one. */
export async function obstacle(folder: string): Promise<string | undefined> {
  const [command, ...args] = mounting(folder)
  return promisify(execFile)(command, [...args, 'true']).then(
    () => undefined,
    (error: unknown) => `No mount namespace can be made: ${String(error).trim()}`,
  )
}

/** What one pod has mounted, and how that is replaced, in one step as by a kubelet. */
export interface Mounted {
  readonly folder: string
  /** Puts a new token there, and the authorities of the API server's certificate. */
  renew(caPEM?: string): Promise<void>
  /** Makes the token invalid that was put there last, or the one before, and waits until the API server refuses it. */
  invalidate(which: 'last' | 'before'): Promise<void>
}

/** What a pod of this service account has mounted, until the test ends. */
export async function mountedFor(t: Test, plane: ControlPlane, account: string): Promise<Mounted> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-account-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const secrets = `/api/v1/namespaces/${SYSTEM}/secrets`
  const tokens: string[] = []

  /** The token is valid as long as a Secret exists, as a pod's token is valid as long as the pod exists. */
  async function put(caPEM: string): Promise<void> {
    const name = `${account}-${tokens.length + 1}`
    await plane.api.need('POST', secrets, { metadata: { name } })
    const kubeconfig = await plane.tokenFor(account, SYSTEM, name)
    const { users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      users: [{ user: { token: string } }]
    }
    const [{ user }] = users
    tokens.push(user.token)
    const files = { token: user.token, 'ca.crt': caPEM, namespace: SYSTEM }
    await mkdir(join(folder, `..${name}`))
    for (const [file, content] of Object.entries(files))
      await writeFile(join(folder, `..${name}`, file), content, { mode: 0o600 })
    await symlink(`..${name}`, join(folder, '..new'))
    await rename(join(folder, '..new'), join(folder, '..data'))
  }

  await put(plane.caPEM)
  for (const file of ['token', 'ca.crt', 'namespace']) await symlink(`..data/${file}`, join(folder, file))
  return {
    folder,
    renew: (caPEM = plane.caPEM) => put(caPEM),
    async invalidate(which) {
      const number = which === 'last' ? tokens.length : tokens.length - 1
      await plane.api.need('DELETE', `${secrets}/${account}-${number}`)
      // The API server remembers for some seconds that it has accepted a token.
      await waitFor('refusal of the token', () => isRefused(plane, tokens[number - 1] ?? ''), MINUTE)
    },
  }
}

async function isRefused({ api }: ControlPlane, token: string): Promise<true | undefined> {
  const review = await api.need('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })
  const { status } = review as { readonly status: { readonly authenticated?: boolean } }
  return status.authenticated === true ? undefined : true
}
