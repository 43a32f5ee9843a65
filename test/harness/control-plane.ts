import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TAP, Test } from 'tap'
import { openAdminAPI, type AdminAPI } from './admin-api.ts'
import { restoreAuthority, type Certificate } from './certificates.ts'
import { findBinaries } from './control-plane-binaries.ts'
import type { Missing } from './go-build.ts'
import { issueFor, writeKubeconfig, type ClientUser } from './kubeconfig.ts'
import { startServers, type Restart, type RunningPlane, type StartOptions } from './control-plane-start.ts'

/** How a call of kubectl ended. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Standard input. */
  readonly input?: string
  /** An exit code other than 0 is a result, not an error. */
  readonly allowFailure?: boolean
  /** Another user's kubeconfig; default: the admin's. */
  readonly kubeconfig?: string
}

/** A real kube-apiserver with etcd and nothing else: no controllers, no nodes. */
export interface ControlPlane {
  /** Path of the admin's kubeconfig. */
  readonly kubeconfig: string
  /** `https://127.0.0.1:PORT` */
  readonly url: string
  readonly caPEM: string
  /** The admin's client without kubectl, for setup and waits. */
  readonly api: AdminAPI
  /**
   * Where the plane is shared: the value of the label FILE on the namespaces of this test file. Cluster-scoped objects
   * are limited to these namespaces.
   */
  readonly file?: string
  kubectl(args: readonly string[], options?: RunOptions): Promise<Ran>
  /** `kubectl apply` of a file, a folder or, where there is a line end in it, a text. */
  apply(fileOrText: string): Promise<Ran>
  /** Makes a namespace for one test and returns its name. */
  createNamespace(prefix?: string): Promise<string>
  /** Path of a kubeconfig of this user, who may do nothing yet. */
  kubeconfigFor(user: ClientUser): Promise<string>
  /**
   * Path of a kubeconfig that logs in only with a token of this service account (TokenRequest).
   * `boundTo` names a Secret of the namespace: the token becomes invalid when it is deleted.
   */
  tokenFor(serviceAccount: string, namespace: string, boundTo?: string): Promise<string>
  /** Only one of this file: restarts one of its servers. */
  readonly restart: Restart
  /** Writes the file for SHARED; it holds keys and is 0600. */
  shareIn(file: string): Promise<void>
  /** Stops a control plane of this file; a shared one stays. */
  stop(): Promise<void>
}

/** Label of the namespaces that a test file makes on a shared control plane. */
export const FILE = 'test.commitlet.dev/file'

/** Names a file by which test/run.ts shares one control plane with all test files. */
export const SHARED = 'COMMITLET_TEST_CONTROL_PLANE'

/** Set by `--require-control-plane` of test/run.ts: a missing control plane then fails instead of skipping tests. */
export const REQUIRED = 'COMMITLET_TEST_REQUIRED'

interface SharedPlane extends Certificate {
  readonly url: string
  readonly kubectl: string
  readonly folder: string
}

/**
 * The shared control plane where there is one, else a separate one; the reason where neither is possible. On the shared
 * one all of manifests/ but the webhook configurations is installed. `own` takes 2 s of one core, and 4 s to wait: it is
 * for tests that change cluster-scoped objects, or list all of them; `flags` are for its API server. Where `signal` fires
 * before it is ready, it fails and leaves nothing behind.
 */
export async function startControlPlane(
  options: StartOptions & { readonly own?: boolean } = {},
): Promise<ControlPlane | Missing> {
  const file = process.env[SHARED]
  const shared =
    file === undefined ? undefined : (JSON.parse(await readFile(file, 'utf8')) as SharedPlane | Missing)
  if (shared !== undefined && 'missing' in shared) return shared
  if (shared !== undefined && options.own !== true)
    return open(attach(shared), { file: randomBytes(4).toString('hex') })
  const { signal } = options
  const say = (line: string): unknown => process.stderr.write(`${line}\n`)
  const binaries = await findBinaries({ env: process.env, say, signal })
  return 'missing' in binaries ? binaries : open(await startServers(binaries, options))
}

/**
 * Runs the tests that need a control plane as one subtest of the file, and stops it at their end; where there
 * is none they are skipped, loudly.
 */
export function withControlPlane(
  t: TAP | Test,
  tests: (t: Test, plane: ControlPlane) => Promise<void> | void,
  options: StartOptions & { readonly own?: boolean } = {},
): Promise<unknown> {
  return t.test('with a real API server', async (t) => {
    const plane = await startControlPlane(options)
    if ('missing' in plane) {
      process.stderr.write(`SKIPPED, no control plane: ${plane.missing}\n`)
      t.pass('a control plane', { skip: plane.missing })
      return
    }
    t.teardown(() => plane.stop())
    await tests(t, plane)
  })
}

function attach(shared: SharedPlane): RunningPlane {
  return {
    ...shared,
    authority: restoreAuthority(shared),
    trusted: [shared.certPEM],
    restart: () => Promise.reject(new Error('Other test files use this control plane, too.')),
    stop: () => Promise.resolve(),
  }
}

async function open(running: RunningPlane, sharing: { readonly file?: string } = {}): Promise<ControlPlane> {
  const { file } = sharing
  const user = { name: 'admin', groups: ['system:masters'] }
  const certificate = await issueFor(running, user)
  const admin = await writeKubeconfig(running, { name: user.name, ...certificate })
  const api = openAdminAPI({ url: running.url, trusted: running.trusted, ...certificate })
  const stopped = new AbortController()
  function kubectl(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const cache = `--cache-dir=${join(running.folder, 'kubectl-cache')}`
    const words = [...args, `--kubeconfig=${options.kubeconfig ?? admin}`, cache]
    return run(running.kubectl, words, { ...options, signal: stopped.signal })
  }
  return {
    kubeconfig: admin,
    url: running.url,
    caPEM: running.authority.certPEM,
    api,
    ...sharing,
    restart: running.restart,
    kubectl,
    apply(fileOrText) {
      const text = fileOrText.includes('\n')
      return kubectl(['apply', '-f', text ? '-' : fileOrText], text ? { input: fileOrText } : {})
    },
    async createNamespace(prefix = 'team') {
      const name = `${prefix}-${randomBytes(4).toString('hex')}`
      const labels = file === undefined ? {} : { [FILE]: file }
      await api.need('POST', '/api/v1/namespaces', { metadata: { name, labels } })
      return name
    },
    kubeconfigFor: async (user) =>
      writeKubeconfig(running, { name: user.name, ...(await issueFor(running, user)) }),
    async tokenFor(serviceAccount, namespace, boundTo) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`
      const bound =
        boundTo === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: boundTo } }
      // A day, like everything here: a demo may run longer than the default of an hour.
      const spec = { expirationSeconds: 24 * 3600, ...bound }
      const answered = await api.need('POST', path, { spec })
      const { token } = (answered as { readonly status: { readonly token: string } }).status
      return writeKubeconfig(running, { name: serviceAccount, token })
    },
    shareIn(file) {
      const { url, kubectl, folder, authority } = running
      const shared: SharedPlane = {
        url,
        kubectl,
        folder,
        certPEM: authority.certPEM,
        keyPEM: authority.keyPEM,
      }
      return writeFile(file, JSON.stringify(shared), { mode: 0o600 })
    },
    async stop() {
      if (file === undefined) stopped.abort()
      else await clearUp(api, file)
      await running.stop()
    },
  }
}

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'

/** Removes what a file leaves on the shared plane for others to see: its webhooks, and what sweeps find. */
async function clearUp(api: AdminAPI, file: string): Promise<void> {
  const selector = `labelSelector=${encodeURIComponent(`${FILE}=${file}`)}`
  for (const kind of ['mutating', 'validating'])
    await api.ask('DELETE', `${CONFIGURATIONS}/${kind}webhookconfigurations?${selector}`)
  const { body } = await api.ask('GET', `/api/v1/namespaces?${selector}`)
  const { items = [] } = body as {
    readonly items?: readonly { readonly metadata: { readonly name: string } }[]
  }
  for (const { metadata } of items) {
    for (const plural of ['gitcommits', 'pullrequests'])
      await api.ask('DELETE', `/apis/commitlet.dev/v1/namespaces/${metadata.name}/${plural}`)
  }
}

interface Run extends RunOptions {
  readonly signal: AbortSignal
}

function run(program: string, args: readonly string[], options: Run): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      {
        maxBuffer: 64 * 1024 * 1024,
        timeout: 120_000,
        // It is over before a collection of garbage would pay.
        env: { ...process.env, GOGC: 'off', ...options.env },
        signal: options.signal,
        killSignal: 'SIGKILL',
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1)
        if (code === 0 || options.allowFailure === true) resolve({ code, stdout, stderr })
        else reject(new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`))
      },
    )
    // It may end without reading its input, and its exit code says more than a broken pipe.
    child.stdin?.on('error', () => undefined).end(options.input ?? '')
  })
}
