import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Login } from '../../functions/domain/credentials/login.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { guardAddresses } from '../../functions/net/addresses.ts'
import { openGit, type Git } from '../../functions/git/git.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { samplePath } from '../remote/sample-repository.ts'

/** Writes content to one path of the branch main. */
export interface Writer {
  /** What is done before each measured write, and not measured. */
  readonly prepare: () => Promise<void>
  readonly write: (content: string) => Promise<void>
  /** Releases what the writer holds. */
  readonly close: () => Promise<void>
}

/** The repository, and how a writer reaches it. */
export interface Target {
  readonly url: string
  readonly login: Login
  readonly caFile: string
  /** The environment with which git itself logs in. */
  readonly env: Readonly<Record<string, string>>
  /** Where temporary files go. */
  readonly folder: string
}

const AUTHOR = { name: 'Bench', email: 'bench@example.com' }
const PATH = samplePath(0, 'settings')
const DEADLINE_MS = 120_000

/** Commitlet's own writer with one of its engines. */
export interface OwnOptions {
  readonly engine: 'direct' | 'binary'
  /** Keeps what earlier writes have left: connections, tips, trees. A cold one begins with nothing each time. */
  readonly warm: boolean
}

/** Commitlet's own writer. A warm one writes once more before each measured write, for connections close when idle. */
export function commitletWriter(target: Target, { engine, warm }: OwnOptions): Writer {
  let git = open(target, engine)
  let count = 0
  async function write(content: string): Promise<void> {
    count += 1
    const change = {
      namespace: 'bench',
      repository: parseRepositoryAddress(target.url),
      branch: 'main',
      files: [{ path: PATH, content: Buffer.from(content) }],
      message: 'Bench\n',
      id: `bench.${count}`,
      author: AUTHOR,
    }
    await git.push(change, target.login, AbortSignal.timeout(DEADLINE_MS))
  }
  return {
    async prepare() {
      if (warm) return write(`before ${count}\n`)
      await git.close()
      git = open(target, engine)
    },
    write,
    close: () => git.close(),
  }
}

function open(target: Target, engine: OwnOptions['engine']): Git {
  return openGit({
    engine,
    tempDir: target.folder,
    trust: followTrust(target.caFile),
    fetchLimitMiB: 256,
    resolve: guardAddresses({ inCluster: false, apiServer: [] }),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
    handedOver: ({ why }) => {
      throw new Error(`The direct engine gave up: ${why}`)
    },
  })
}

/** What most tools do: clone (completely, or the latest commit), write the file, commit, push. */
export function cloneWriter(target: Target, options: readonly string[]): Writer {
  const run = promisify(execFile)
  const env = {
    PATH: process.env.PATH,
    HOME: '/nonexistent',
    GIT_AUTHOR_NAME: AUTHOR.name,
    GIT_AUTHOR_EMAIL: AUTHOR.email,
    GIT_COMMITTER_NAME: AUTHOR.name,
    GIT_COMMITTER_EMAIL: AUTHOR.email,
    ...target.env,
  }
  const used: string[] = []
  async function clear(): Promise<void> {
    for (const folder of used.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return {
    prepare: clear,
    async write(content) {
      const folder = await mkdtemp(join(target.folder, 'clone-'))
      used.push(folder)
      const git = (...args: readonly string[]) => run('git', [...args], { cwd: folder, env })
      await git('clone', '-q', ...options, target.url, '.')
      await mkdir(dirname(join(folder, PATH)), { recursive: true })
      await writeFile(join(folder, PATH), content)
      await git('add', PATH)
      await git('commit', '-q', '-m', 'Bench')
      await git('push', '-q')
    },
    close: clear,
  }
}
