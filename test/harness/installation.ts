import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { makeAuthority } from './certificates.ts'
import { installCommitlet, WEBHOOK_HOST } from './commitlet.ts'
import type { ControlPlane } from './control-plane.ts'
import type { GitServer } from './git-server.ts'
import { startGitServer } from './git-server.ts'
import type { GitUser } from './git-site.ts'
import type { Program } from './programs.ts'
import { startFunction, startWebhook } from './programs.ts'
import { freePort, waitFor } from './wait.ts'

/** The token that the Git server of an installation takes; distinctive, so that a leak is found. */
export const TOKEN = 'tkn-5uPerSecret-9f8e7d'

export interface InstallationOptions {
  readonly functionEnv?: Readonly<Record<string, string>>
  readonly webhookEnv?: Readonly<Record<string, string>>
  /** Runs dist/*.cjs instead of the sources. */
  readonly built?: boolean
  /** Who may log in to the Git server; default: whoever has TOKEN. */
  readonly users?: readonly GitUser[]
}

/** Commitlet, whole, on a real API server, with a real Git server, as a platform team installs it. */
export interface Installation {
  readonly plane: ControlPlane
  readonly git: GitServer
  readonly webhook: Program
  readonly function: Program
  /** Starts the function again, on its port; with another PORT one more of it. */
  startFunction(env?: Readonly<Record<string, string>>): Promise<Program>
  /** Starts the webhook again, on its port. */
  startWebhook(env?: Readonly<Record<string, string>>): Promise<Program>
  /** A namespace with the Secret `git` that holds the token. */
  createTeam(): Promise<Team>
}

/** One namespace and what a user does in it. */
export interface Team {
  readonly namespace: string
  /** kubectl in this namespace. */
  kubectl(
    args: readonly string[],
    options?: Parameters<ControlPlane['kubectl']>[1],
  ): ReturnType<ControlPlane['kubectl']>
  /** kubectl apply of manifests, given as objects. */
  apply(...objects: readonly object[]): Promise<void>
  /** The resource as stored. */
  get(name: string, kind?: string): Promise<Stored>
  /** The resource once it is settled: current, and Succeeded or Failed. Throws where that takes a minute. */
  settled(name: string, kind?: string): Promise<Stored>
  /** kubectl wait; throws where it does not come true in time. */
  waitFor(name: string, condition: string, timeout?: string): Promise<void>
}

export interface Stored {
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly name: string
    readonly uid: string
    readonly generation: number
    readonly resourceVersion: string
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status: Readonly<Record<string, unknown>>
}

/** Installs everything on the plane; the test's end takes it away. */
export async function install(
  t: Pick<Test, 'teardown'>,
  plane: ControlPlane,
  options: InstallationOptions = {},
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-e2e-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const authority = await makeAuthority()
  const git = await startGitServer({
    authority,
    users: options.users ?? [{ password: TOKEN }, { username: 'commitlet', password: TOKEN }],
  })
  t.teardown(() => git.close())
  const { certPEM, keyPEM } = await authority.issue({ names: [WEBHOOK_HOST, 'localhost'] })
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  await writeFile(files.cert, certPEM)
  await writeFile(files.key, keyPEM)
  const port = await freePort()
  const functionEnv = (more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
    KUBECONFIG: plane.kubeconfig,
    CA_FILE: git.caFile,
    PORT: String(port),
    ...options.functionEnv,
    ...more,
  })
  const built = options.built === true
  const begin = async (env?: Readonly<Record<string, string>>): Promise<Program> => {
    const program = await startFunction({ env: functionEnv(env), built })
    t.teardown(() => program.stop())
    await program.ready()
    return program
  }
  const webhookPort = await freePort()
  const beginWebhook = async (env: Readonly<Record<string, string>> = {}): Promise<Program> => {
    const program = await startWebhook({
      built,
      env: {
        KUBECONFIG: plane.kubeconfig,
        TLS_CERT_FILE: files.cert,
        TLS_KEY_FILE: files.key,
        PORT: String(webhookPort),
        K_SINK: `http://localhost:${port}`,
        ...options.webhookEnv,
        ...env,
      },
    })
    t.teardown(() => program.stop())
    await program.ready()
    return program
  }
  const [webhook, first] = await Promise.all([beginWebhook(), begin()])
  await installCommitlet(plane, { webhookPort, authority })
  return {
    plane,
    git,
    webhook,
    function: first,
    startFunction: begin,
    startWebhook: beginWebhook,
    createTeam: () => createTeam(plane),
  }
}

async function createTeam(plane: ControlPlane): Promise<Team> {
  const namespace = await plane.createNamespace()
  const team: Team = {
    namespace,
    kubectl: (args, options) => plane.kubectl(['-n', namespace, ...args], options),
    async apply(...objects) {
      const input = objects.map((object) => JSON.stringify(object)).join('\n')
      await team.kubectl(['apply', '-f', '-'], { input })
    },
    async get(name, kind = 'gitcommit') {
      const { stdout } = await team.kubectl(['get', kind, name, '-o', 'json'])
      return JSON.parse(stdout) as Stored
    },
    settled(name, kind) {
      const look = async (): Promise<Stored | undefined> => {
        const stored = await team.get(name, kind)
        return isSettled(stored) ? stored : undefined
      }
      return waitFor(`settled ${name}`, look, 60_000)
    },
    async waitFor(name, condition, timeout = '30s') {
      await team.kubectl(['wait', 'gitcommit', name, `--for=${condition}`, `--timeout=${timeout}`])
    },
  }
  await team.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'git' },
    stringData: { token: `${TOKEN}\n`, username: 'commitlet', password: TOKEN },
  })
  return team
}

function isSettled({ metadata, status }: Stored): boolean {
  const { phase, observedGeneration, lastHandledRequestedAt } = status
  if (observedGeneration !== metadata.generation) return false
  if (lastHandledRequestedAt !== metadata.annotations?.['commitlet.dev/requested-at']) return false
  return phase === 'Succeeded' || phase === 'Failed'
}

/** A GitCommit of the ConfigMap `shop`; `spec` overrides its members. */
export function gitCommit(
  name: string,
  repository: string,
  spec: Readonly<Record<string, unknown>> = {},
): object {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { name },
    spec: {
      repository,
      message: 'Record the shop settings',
      credentials: { secretName: 'git', tokenKey: 'token' },
      resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop/settings.yaml' },
      ...spec,
    },
  }
}

/** The ConfigMap that `gitCommit` refers to. */
export function configMap(data: Readonly<Record<string, string>> = { colour: 'blue' }): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data }
}
