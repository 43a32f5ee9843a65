import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { makeAuthority } from './certificates.ts'
import { accountConfigs } from './accounts.ts'
import { callWebhook, installObjects, WEBHOOK_HOST } from './commitlet.ts'
import { startConfinedSink } from './confined-sink.ts'
import { FILE, type ControlPlane } from './control-plane.ts'
import type { GitServer } from './git-server.ts'
import { startGitServer } from './git-server.ts'
import type { GitUser } from './git-site.ts'
import type { Program } from './programs.ts'
import { startFunction, startWebhook } from './programs.ts'
import { createTeam, TOKEN, type Team, type TeamOptions } from './team.ts'
import { freePort } from './wait.ts'

export { TOKEN, type Stored, type Team } from './team.ts'

export interface InstallationOptions {
  readonly functionEnv?: Readonly<Record<string, string>>
  readonly webhookEnv?: Readonly<Record<string, string>>
  /** Runs dist/*.cjs instead of the sources; `cached`: with the code cache, as the image does. */
  readonly built?: boolean | 'cached'
  /** Commands that become the programs, which then find the API server as in a pod: without KUBECONFIG. */
  readonly by?: Readonly<Record<'function' | 'webhook', readonly string[]>>
  /** The users of the Git server; default: any user with TOKEN. */
  readonly users?: readonly GitUser[]
}

/** For an attempt that is still waiting for a server when the tests are over. */
const END_MS = 10_000

/** A complete Commitlet on a real API server, with a real Git server, as a platform team installs it. */
export interface Installation {
  readonly plane: ControlPlane
  readonly git: GitServer
  readonly webhook: Program
  readonly function: Program
  /** Starts the function again, on its port; with another PORT, one more instance. */
  startFunction(env?: Readonly<Record<string, string>>): Promise<Program>
  /** Starts the webhook again, on its port. */
  startWebhook(env?: Readonly<Record<string, string>>): Promise<Program>
  /** A namespace with the Secret `git`, which holds the token, and with the rights of a tenant. */
  createTeam(options?: TeamOptions): Promise<Team>
}

/**
 * Installs everything on the plane; the test's end removes it. Both parts have only the rights of manifests/,
 * with tokens of their service accounts.
 */
export async function install(
  t: Pick<Test, 'teardown'>,
  plane: ControlPlane,
  options: InstallationOptions = {},
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-e2e-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const authority = await makeAuthority()
  const git = await startGitServer({
    authority,
    users: options.users ?? [{ password: TOKEN }, { username: 'commitlet', password: TOKEN }],
  })
  t.teardown(() => git.close())
  const { certPEM, keyPEM } = await authority.issue({ names: [WEBHOOK_HOST, 'localhost'] })
  const files = {
    cert: join(folder, 'tls.crt'),
    key: join(folder, 'tls.key'),
    stampKey: join(folder, 'stamp.key'),
  }
  await writeFile(files.cert, certPEM)
  await writeFile(files.key, keyPEM)
  await writeFile(files.stampKey, randomBytes(48), { mode: 0o600 })
  await installObjects(plane)
  const accounts = await accountConfigs(plane)
  const { built = false, by } = options
  const loginOf = (part: keyof typeof accounts): Readonly<Record<string, string>> =>
    by === undefined ? { KUBECONFIG: accounts[part] } : {}
  const port = await freePort()
  const sweepless: Readonly<Record<string, string>> =
    plane.file === undefined ? {} : { SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }
  const begin = async (env: Readonly<Record<string, string>> = {}): Promise<Program> => {
    const program = await startFunction({
      built,
      by: by?.function ?? [],
      env: {
        ...loginOf('function'),
        CA_FILE: git.caFile,
        STAMP_KEY_FILE: files.stampKey,
        PORT: String(port),
        ...options.functionEnv,
        ...env,
      },
    })
    t.teardown(() => program.stop(END_MS))
    await program.ready()
    return program
  }
  const webhookPort = await freePort()
  const beginWebhook = async (env: Readonly<Record<string, string>> = {}): Promise<Program> => {
    const settings: Readonly<Record<string, string>> = {
      ...loginOf('webhook'),
      TLS_CERT_FILE: files.cert,
      TLS_KEY_FILE: files.key,
      STAMP_KEY_FILE: files.stampKey,
      PORT: String(webhookPort),
      K_SINK: `http://localhost:${port}`,
      ...sweepless,
      ...options.webhookEnv,
      ...env,
    }
    const confined = await confinedTo(t, plane, settings)
    const program = await startWebhook({
      built,
      by: by?.webhook ?? [],
      env: { ...settings, ...confined },
    })
    t.teardown(() => program.stop(END_MS))
    await program.ready()
    return program
  }
  const [webhook, first] = await Promise.all([beginWebhook(), begin()])
  await callWebhook(plane, { webhookPort, authority })
  return {
    plane,
    git,
    webhook,
    function: first,
    startFunction: begin,
    startWebhook: beginWebhook,
    createTeam: (teamOptions) => createTeam(plane, teamOptions),
  }
}

/** On a shared plane a webhook that sweeps gets a sink that forwards only the events of this test file. */
async function confinedTo(
  t: Pick<Test, 'teardown'>,
  { file, api }: ControlPlane,
  { SWEEP_INTERVAL, SWEEP_FULL_INTERVAL, K_SINK = '' }: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  if (file === undefined || (SWEEP_INTERVAL === '0' && SWEEP_FULL_INTERVAL === '0')) return {}
  const known = new Map<string, Promise<boolean>>()
  async function look(namespace: string): Promise<boolean> {
    const found = await api.need('GET', `/api/v1/namespaces/${namespace}`)
    const { metadata } = found as {
      readonly metadata: { readonly labels?: Readonly<Record<string, string>> }
    }
    return metadata.labels?.[FILE] === file
  }
  const sink = await startConfinedSink(
    () => K_SINK,
    (namespace) => {
      const ours = known.get(namespace) ?? look(namespace)
      known.set(namespace, ours)
      return ours
    },
  )
  t.teardown(() => sink.close())
  return { K_SINK: sink.url }
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
