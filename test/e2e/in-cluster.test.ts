import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { openAs } from '../cluster/stage.ts'
import { ACCOUNTS, SYSTEM } from '../harness/accounts.ts'
import { installObjects } from '../harness/commitlet.ts'
import { startProxy } from '../harness/connect-proxy.ts'
import { REQUIRED, withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { waitFor } from '../harness/wait.ts'

const MINUTE = 60_000
/** Where a kubelet mounts what a pod's service account logs in with. */
const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount'
/** What the shell does in a mount namespace of its own before it becomes the program. */
const MOUNT = `set -e; folder=$1; shift; mount -t tmpfs tmpfs /var/run; mkdir -p ${MOUNTED}
  mount --bind "$folder" ${MOUNTED}; exec "$@"`

const WHO_AM_I = {
  method: 'POST',
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
} as const

/** The command that becomes a program that alone sees this folder at MOUNTED. */
function mounting(folder: string): readonly [string, ...string[]] {
  return ['unshare', '--mount', 'sh', '-c', MOUNT, 'sh', folder]
}

/** Why there can be no mount namespace here: only root may make one. */
async function obstacle(folder: string): Promise<string | undefined> {
  const [command, ...args] = mounting(folder)
  return promisify(execFile)(command, [...args, 'true']).then(
    () => undefined,
    (error: unknown) => `No mount namespace can be made: ${String(error).trim()}`,
  )
}

/** What one pod has mounted, and how its token is replaced. */
interface Mounted {
  readonly folder: string
  /** A kubeconfig with the first token. */
  readonly first: string
  /** Puts a new token there, in one step as a kubelet does, and makes the first one invalid. */
  replace(): Promise<void>
}

async function mountedFor(t: Test, plane: ControlPlane, account: string): Promise<Mounted> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-account-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))

  /** Valid as long as the Secret of this name exists, as a pod's token is valid as long as the pod exists. */
  async function tokenBoundTo(name: string): Promise<string> {
    await plane.kubectl(['create', 'secret', 'generic', name, '-n', SYSTEM])
    const kubeconfig = await plane.tokenFor(account, SYSTEM, name)
    const { users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      users: [{ user: { token: string } }]
    }
    const files = { token: users[0].user.token, 'ca.crt': plane.caPEM, namespace: SYSTEM }
    await mkdir(join(folder, `..${name}`))
    for (const [file, content] of Object.entries(files))
      await writeFile(join(folder, `..${name}`, file), content, { mode: 0o600 })
    await symlink(`..${name}`, join(folder, '..new'))
    await rename(join(folder, '..new'), join(folder, '..data'))
    return kubeconfig
  }

  const first = await tokenBoundTo(`${account}-1`)
  for (const file of ['token', 'ca.crt', 'namespace']) await symlink(`..data/${file}`, join(folder, file))
  return {
    folder,
    first,
    async replace() {
      await tokenBoundTo(`${account}-2`)
      await plane.kubectl(['delete', 'secret', `${account}-1`, '-n', SYSTEM])
    },
  }
}

withControlPlane(t, async (t, plane) => {
  const home = t.testdir({})
  const why = await obstacle(home)
  if (why !== undefined && REQUIRED in process.env) throw new Error(why)
  if (why !== undefined) {
    process.stderr.write(`SKIPPED: ${why}\n`)
    t.pass('a mounted service account', { skip: why })
    return
  }
  await installObjects(plane)
  const mounted = {
    function: await mountedFor(t, plane, ACCOUNTS.function),
    webhook: await mountedFor(t, plane, ACCOUNTS.webhook),
  }
  // A pod reaches a Git server on this machine only through a proxy: loopback is forbidden in a cluster.
  const proxy = await startProxy()
  t.teardown(() => proxy.close())
  const { hostname, port } = new URL(plane.url)
  const pod = { HOME: home, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const commitlet = await install(t, plane, {
    by: { function: mounting(mounted.function.folder), webhook: mounting(mounted.webhook.folder) },
    functionEnv: { ...pod, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` },
    webhookEnv: { ...pod, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' },
  })

  t.test('with what a pod has mounted and nothing else, a GitCommit succeeds', async (t) => {
    for (const { pid } of [commitlet.function, commitlet.webhook])
      t.notMatch(await readFile(`/proc/${pid}/environ`, 'utf8'), 'KUBECONFIG')
    const team = await commitlet.createTeam({ developers: ['dev'] })
    const repository = await commitlet.git.createRepository(team.namespace)
    const kubeconfig = await plane.kubeconfigFor({ name: 'dev' })
    await team.apply(configMap())
    const input = JSON.stringify(gitCommit('shop', repository.url))
    await team.kubectl(['apply', '-f', '-'], { input, kubeconfig })
    t.match((await team.settled('shop')).status, { phase: 'Succeeded' })
    t.match(await repository.git('log', '-1', '--format=%B', 'main'), /^Requested-by: dev$/m)
  })

  t.test('a token that is replaced while they run is used, once the old one is refused', async (t) => {
    const team = await commitlet.createTeam({ developers: ['dev'] })
    const repository = await commitlet.git.createRepository(team.namespace)
    const kubeconfig = await plane.kubeconfigFor({ name: 'dev' })
    await team.apply(configMap())
    for (const account of Object.values(mounted)) {
      const old = openAs(account.first)
      await account.replace()
      // The API server caches a token that it has seen for some seconds.
      const refusal = async () => ((await old(WHO_AM_I)).status === 401 ? true : undefined)
      await waitFor('refusal of the old token', refusal, MINUTE)
    }
    const input = JSON.stringify(gitCommit('shop', repository.url))
    await team.kubectl(['apply', '-f', '-'], { input, kubeconfig })
    const { status } = await team.settled('shop')
    t.match(status, { phase: 'Succeeded', attempts: 1 })
  })
})
