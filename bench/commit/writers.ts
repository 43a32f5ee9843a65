import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { GitEngine } from '../../functions/config.ts'
import type { Login } from '../../functions/domain/credentials/login.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { guardAddresses } from '../../functions/net/addresses.ts'
import { openGit } from '../../functions/git/git.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { PATH } from './sample-repository.ts'

/** Writes content to PATH on the branch main. `close` releases what the writer holds. */
export interface Writer {
  readonly name: string
  write(content: string): Promise<void>
  close(): Promise<void>
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

/** Commitlet's own writer, with one of its engines. */
export function commitletWriter(target: Target, name: string, engine: GitEngine): Writer {
  const git = openGit({
    engine,
    tempDir: target.folder,
    trust: followTrust(target.caFile),
    fetchLimitMiB: 256,
    resolve: guardAddresses({ inCluster: false, apiServer: [] }),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
  })
  let count = 0
  return {
    name,
    async write(content) {
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
      await git.push(change, target.login, AbortSignal.timeout(60_000))
    },
    close: () => git.close(),
  }
}

/** What most tools do: clone (completely, or the latest commit), write the file, commit, push. */
export function cloneWriter(target: Target, name: string, options: readonly string[]): Writer {
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
  return {
    name,
    async write(content) {
      const folder = await mkdtemp(join(target.folder, 'clone-'))
      const git = (...args: readonly string[]) => run('git', [...args], { cwd: folder, env })
      await git('clone', '-q', ...options, target.url, '.')
      await mkdir(dirname(join(folder, PATH)), { recursive: true })
      await writeFile(join(folder, PATH), content)
      await git('add', PATH)
      await git('commit', '-q', '-m', 'Bench')
      await git('push', '-q')
      await rm(folder, { recursive: true })
    },
    close: () => Promise.resolve(),
  }
}
