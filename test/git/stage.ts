import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guardAddresses } from '../../functions/net/addresses.ts'
import type { RepositoryAddress } from '../../functions/domain/repository/address.ts'
import { DEFAULT_PORTS } from '../../functions/domain/repository/address.ts'
import type { Change, Landed } from '../../functions/domain/commit/change.ts'
import type { PasswordLogin } from '../../functions/domain/credentials/login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { findRoute } from '../../functions/domain/network/route.ts'
import { throughAPI } from '../../functions/git/api-remote.ts'
import { openDirectEngine, type DirectSettings } from '../../functions/git/direct/direct-engine.ts'
import { openGit, type Git, type GitSettings } from '../../functions/git/git.ts'
import type { Engine, Remote, RemoteTarget } from '../../functions/git/remote.ts'
import { openBinaryEngine, type BinarySettings } from '../../functions/git/session/binary-engine.ts'
import { openSSHSessions } from '../../functions/git/ssh/sessions.ts'
import type { SessionLimits } from '../../functions/git/session/limits.ts'
import { openSession, type Session } from '../../functions/git/session/session.ts'
import { overHTTPS } from '../../functions/git/session/transport.ts'
import { openWorkspace, type Workspace } from '../../functions/git/process/workspace.ts'
import { land } from '../../functions/git/writer/land.ts'
import type { PendingChange, Settled } from '../../functions/git/writer/pending-change.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { startGitServer, type GitServer, type GitServerOptions } from '../harness/git-server.ts'
import { waitFor } from '../harness/wait.ts'
import { openApiCommitter, type ApiCommitter } from './api-committer.ts'

export const PASSWORD = 'tok/en+4711'
export const USER = { password: PASSWORD }
export const AUTHOR = { name: 'Commitlet', email: 'commitlet@users.noreply.local' }

/** Every host is called directly, and none of them is forbidden here. */
export const DIRECT = {
  resolve: guardAddresses({ inCluster: false, apiServer: [] }),
  proxies: { proxy: undefined, exceptions: [] },
  insecureHosts: [],
}

/** The route of a session of a stage: to the stage's own server. */
export const REACHED = { addresses: ['127.0.0.1'], proxy: undefined, insecure: false }

/** The address that the parser returns. */
export function addressOf(url: string): RepositoryAddress {
  const { protocol, hostname, port, pathname } = new URL(url)
  const segments = pathname
    .replace(/\.git$/, '')
    .slice(1)
    .split('/')
  const scheme = protocol === 'http:' ? 'http' : 'https'
  return {
    scheme,
    user: undefined,
    host: hostname.replace(/[[\]]/g, ''),
    port: Number(port || DEFAULT_PORTS[scheme]),
    segments,
    text: url,
  }
}

export function loginOf(password: string, username = 'x-access-token'): PasswordLogin {
  const identity = createHash('sha256').update(`${username}:${password}`).digest('hex')
  return { method: 'password', username, password, identity, secrets: [password] }
}

let count = 0

/** A change of one file, with an id of its own. */
export function changeOf(
  url: string,
  path: string,
  more: Partial<Change> & { readonly text?: string } = {},
): Change {
  const id = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}.1`
  const { text = `content of ${path}\n`, ...rest } = more
  return {
    namespace: 'shop',
    repository: addressOf(url),
    branch: 'main',
    files: [{ path, content: Buffer.from(text) }],
    message: `Write ${path}\n\nCommitlet-Resource: shop/config\nCommitlet-Id: ${rest.id ?? id}\n`,
    id,
    author: AUTHOR,
    ...rest,
  }
}

export interface SessionOptions {
  readonly password?: string
  readonly fetchLimitMiB?: number
  readonly deadlineSeconds?: number
  readonly memoryMiB?: number
  /** Default 30. */
  readonly cpuSeconds?: number
  /** The limits of a large share; default: there is none. */
  readonly raise?: () => Promise<SessionLimits>
  /** Told when a git may begin. */
  readonly begins?: () => void
  readonly authorities?: string
  /** PATH; default: this process's own. */
  readonly path?: string
}

/** The engines behind the port `Remote`. */
export const ENGINES = ['git binary', 'direct'] as const
export type EngineName = (typeof ENGINES)[number]

/** What commits get to a branch by: an engine, or the API of a host, whose repository the direct engine reads. */
export const WAYS = [...ENGINES, 'API'] as const
export type Way = (typeof WAYS)[number]

export interface RemoteOptions {
  readonly password?: string
  readonly signal?: AbortSignal
  readonly fetchLimitMiB?: number
}

/** A Git server, and writers that trust it and leave their files in a folder that is counted. */
export interface Stage {
  readonly server: GitServer
  /** The host whose API makes commits in the server's repositories. */
  readonly host: ApiCommitter
  readonly tempDir: string
  open(settings?: Partial<GitSettings>): Git
  /** A session of its own, for the parts of a writer. */
  session<T>(url: string, work: (session: Session) => Promise<T>, more?: SessionOptions): Promise<T>
  /** A session of an engine, or one through the API. */
  remote<T>(way: Way, url: string, work: (remote: Remote) => Promise<T>, more?: RemoteOptions): Promise<T>
  /** Pushes one change by an engine, found as a writer with these settings finds it. */
  push(
    engine: EngineName,
    change: Change,
    settings: Partial<GitSettings>,
  ): Promise<Landed | Failure | undefined>
  /** What is in the folder of the writers. */
  leftovers(): Promise<readonly string[]>
  close(): Promise<void>
}

export async function openStage(options: Partial<GitServerOptions> = {}): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), 'commitlet-served-'))
  const server = await startGitServer({ users: [USER], root, ...options })
  const host = openApiCommitter(options.root ?? root)
  const tempDir = await mkdtemp(join(tmpdir(), 'commitlet-stage-'))
  const opened: Git[] = []
  const path = process.env['PATH'] ?? ''
  const ssh = openSSHSessions()
  const common = {
    ssh,
    tempDir,
    trust: followTrust(server.caFile),
    fetchLimitMiB: 64,
    deadlineSeconds: 30,
    path,
  }
  return {
    server,
    host,
    tempDir,
    open(settings = {}) {
      const git = openGit({
        tempDir,
        trust: followTrust(server.caFile),
        fetchLimitMiB: 64,
        ...DIRECT,
        path: process.env['PATH'] ?? '',
        engine: 'direct',
        ...settings,
      })
      opened.push(git)
      return git
    },
    session(url, work, more = {}) {
      const { password = PASSWORD, fetchLimitMiB = 64, deadlineSeconds = 30, raise, begins } = more
      const { memoryMiB = 256, cpuSeconds = 30 } = more
      const authorities = more.authorities ?? server.caFile
      const path = more.path ?? process.env['PATH'] ?? ''
      const limits = { memoryMiB, fileMiB: fetchLimitMiB, cpuSeconds }
      const sessionSettings = { path, deadlineSeconds, fetchLimitMiB, limits }
      const destination = { ...REACHED, address: addressOf(url), authorities }
      const transport = overHTTPS(destination, loginOf(password))
      return inWorkspace(tempDir, (workspace) => {
        const begin = (): Promise<() => void> => Promise.resolve(begins?.()).then(() => () => undefined)
        const place = { workspace, signal: patience(), begin, ...(raise === undefined ? {} : { raise }) }
        return work(openSession(sessionSettings, transport, place))
      })
    },
    async remote(way, url, work, more = {}) {
      const { password = PASSWORD, signal = patience(), fetchLimitMiB = 64 } = more
      const target = {
        address: addressOf(url),
        route: REACHED,
        login: loginOf(password),
        signal,
        namespace: 'shop',
      }
      const commits = way === 'API' ? host.committerOf(url) : undefined
      const through = (remote: Remote): Remote =>
        commits === undefined ? remote : throughAPI(remote, commits, target)
      const engineName = way === 'API' ? 'direct' : way
      return inEngine(engineName, { ...common, fetchLimitMiB }, (engine) =>
        inRemote(engine, target, (remote) => work(through(remote))),
      )
    },
    async push(name, change, settings) {
      const all = { ...common, ...DIRECT, ...settings }
      const signal = patience()
      const route = await findRoute(change.repository, all, signal)
      const { namespace, repository: address } = change
      const target = { address, route, login: loginOf(PASSWORD), signal, namespace }
      const batch = [pending(change)]
      const [ended] = await inEngine(name, all, (engine) =>
        inRemote(engine, target, (remote) => endingsOf(batch, land(remote, { batch, signal }))),
      )
      return ended
    },
    leftovers: () => readdir(tempDir),
    async close() {
      for (const git of opened) await git.close()
      await ssh.close()
      await server.close()
      for (const folder of [tempDir, root]) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

type EngineSettings = BinarySettings & DirectSettings

/** An engine for this work only. */
async function inEngine<T>(
  name: EngineName,
  settings: EngineSettings,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = name === 'direct' ? openDirectEngine(settings) : openBinaryEngine(settings, settings.ssh)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

/** A session for this work only. */
async function inRemote<T>(
  engine: Engine,
  target: RemoteTarget,
  work: (remote: Remote) => Promise<T>,
): Promise<T> {
  const remote = await engine.open(target)
  try {
    return await work(remote)
  } finally {
    await remote.close()
  }
}

/** A workspace for this work only. */
export async function inWorkspace<T>(folder: string, work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = await openWorkspace(folder)
  try {
    return await work(workspace)
  } finally {
    await workspace.remove()
  }
}

/** Where the change's first file is. */
export function pathOf({ files }: Change): string {
  return files[0]?.path ?? ''
}

/** A change whose caller still waits. */
export function pending(change: Change, signal: AbortSignal = new AbortController().signal): PendingChange {
  return { change, date: new Date(), signal }
}

/** The results that a batch has settled, in the order of its changes; undefined: the change was left out. */
export async function endingsOf(
  batch: readonly PendingChange[],
  progress: AsyncIterable<Settled>,
): Promise<readonly (Landed | Failure | undefined)[]> {
  const endings = new Map<PendingChange, Landed | Failure>()
  for await (const settled of progress)
    for (const [change, ending] of settled) {
      if (endings.has(change)) throw new Error(`${change.change.id} ends twice`)
      endings.set(change, ending)
    }
  return batch.map((change) => endings.get(change))
}

/** A signal that never fires in a test that goes well. */
export function patience(ms = 30_000): AbortSignal {
  return AbortSignal.timeout(ms)
}

/** How a push ended, without the sentence's repetition in each test. */
export async function outcomeOf<T>(work: Promise<T>): Promise<T | Failure> {
  return work.catch((error: unknown) => {
    if (error instanceof Failure) return error
    throw error
  })
}

/** Calls it until there is an answer. */
export function until<T>(what: string, ask: () => Promise<T | undefined | false>, ms = 15_000): Promise<T> {
  return waitFor(
    what,
    async () => {
      const answer = await ask()
      return answer === false ? undefined : answer
    },
    ms,
  )
}
