import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TAP, Test } from 'tap'
import { restoreAuthority, type Certificate } from './certificates.ts'
import { findBinaries } from './control-plane-binaries.ts'
import type { Missing } from './control-plane-build.ts'
import { writeKubeconfig, type ClientUser } from './kubeconfig.ts'
import { startServers, type RunningPlane } from './control-plane-start.ts'

/** How a call of kubectl ended. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Standard input. */
  readonly input?: string
  /** An exit code other than 0 is an answer, not an error. */
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
  kubectl(args: readonly string[], options?: RunOptions): Promise<Ran>
  /** `kubectl apply` of a file, a folder or, where there is a line end in it, a text. */
  apply(fileOrText: string): Promise<Ran>
  /** Makes a namespace of its own for a test and answers its name. */
  createNamespace(prefix?: string): Promise<string>
  /** Path of a kubeconfig of this user, who may nothing yet. */
  kubeconfigFor(user: ClientUser): Promise<string>
  /**
   * Path of a kubeconfig that logs in by a token of this service account (TokenRequest) and by nothing else.
   * `boundTo` names a Secret of the namespace: without it the token is good no more.
   */
  tokenFor(serviceAccount: string, namespace: string, boundTo?: string): Promise<string>
  /** Writes the file that SHARED is to name; it holds keys and is 0600. */
  shareIn(file: string): Promise<void>
  /** Ends a control plane of one's own; a shared one stays. */
  stop(): Promise<void>
}

/** Names a file by which test/run.ts shares one control plane with all test files. */
export const SHARED = 'COMMITLET_TEST_CONTROL_PLANE'

/** Set by `--require-control-plane` of test/run.ts: what the machine lacks is a failure then, and not skipped. */
export const REQUIRED = 'COMMITLET_TEST_REQUIRED'

interface SharedPlane extends Certificate {
  readonly url: string
  readonly kubectl: string
  readonly folder: string
}

/**
 * The shared control plane where there is one, else one of one's own; the reason where none can be had.
 * Webhook configurations are the whole cluster's: `own` is for tests that install them. Where `signal` fires before it is
 * ready, it fails and nothing of it is left.
 */
export async function startControlPlane(
  options: { readonly own?: boolean; readonly signal?: AbortSignal } = {},
): Promise<ControlPlane | Missing> {
  const file = process.env[SHARED]
  const shared =
    file === undefined ? undefined : (JSON.parse(await readFile(file, 'utf8')) as SharedPlane | Missing)
  if (shared !== undefined && 'missing' in shared) return shared
  if (shared !== undefined && options.own !== true) return open(attach(shared))
  const { signal } = options
  const say = (line: string): unknown => process.stderr.write(`${line}\n`)
  const binaries = await findBinaries({ env: process.env, say, signal })
  return 'missing' in binaries ? binaries : open(await startServers(binaries, signal))
}

/**
 * Runs the tests that need a control plane as one subtest of the file, and stops it at their end; where there
 * is none they are skipped, loudly.
 */
export function withControlPlane(
  t: TAP | Test,
  tests: (t: Test, plane: ControlPlane) => Promise<void> | void,
  options: { readonly own?: boolean } = {},
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
  return { ...shared, authority: restoreAuthority(shared), stop: () => Promise.resolve() }
}

async function open(running: RunningPlane): Promise<ControlPlane> {
  const admin = await writeKubeconfig(running, { name: 'admin', groups: ['system:masters'] })
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
    kubectl,
    apply(fileOrText) {
      const text = fileOrText.includes('\n')
      return kubectl(['apply', '-f', text ? '-' : fileOrText], text ? { input: fileOrText } : {})
    },
    async createNamespace(prefix = 'team') {
      const name = `${prefix}-${randomBytes(4).toString('hex')}`
      await kubectl(['create', 'namespace', name])
      return name
    },
    kubeconfigFor: (user) => writeKubeconfig(running, user),
    async tokenFor(serviceAccount, namespace, boundTo) {
      // A day, as everything here: a demo that stays up outlives the hour that is the default.
      const args = ['create', 'token', serviceAccount, '-n', namespace, '--duration=24h']
      const bound = ['--bound-object-kind=Secret', `--bound-object-name=${boundTo}`]
      const { stdout } = await kubectl(boundTo === undefined ? args : [...args, ...bound])
      return writeKubeconfig(running, { name: serviceAccount, token: stdout.trim() })
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
    stop() {
      stopped.abort()
      return running.stop()
    },
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
        env: { ...process.env, ...options.env },
        signal: options.signal,
        killSignal: 'SIGKILL',
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1)
        if (code === 0 || options.allowFailure === true) resolve({ code, stdout, stderr })
        else reject(new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`))
      },
    )
    child.stdin?.end(options.input ?? '')
  })
}
