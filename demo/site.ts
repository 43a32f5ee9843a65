import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Authority } from '../test/harness/certificates.ts'
import { makeAuthority } from '../test/harness/certificates.ts'
import type { Files, GitRepository } from '../test/harness/git-repository.ts'
import { startGitServer, type GitServer } from '../test/harness/git-server.ts'
import type { Leftovers } from './leftovers.ts'

/** The namespace that the examples are applied to. */
export const NAMESPACE = 'demo'

/** What every variant of the demo needs: a folder for temporary files, and a Git server. */
export interface Site {
  readonly folder: string
  /** Signs the certificates of the Git server and of the webhook. */
  readonly authority: Authority
  readonly caFile: string
  /** `localhost:PORT` of the Git server. */
  readonly host: string
  /** The server's token, which is also the password. */
  readonly token: string
  readonly server: GitServer
  readonly repository: GitRepository
  /** File with the key of the stamp's signature, which both programs use. */
  readonly stampKeyFile: string
}

/** Makes the folder and starts the Git server, with the repository that the examples name and these files in it. */
export async function openSite(leftovers: Leftovers, files?: Files): Promise<Site> {
  const folder = await leftovers.hold(mkdtemp(join(tmpdir(), 'commitlet-demo-')), (path) =>
    rm(path, { recursive: true, force: true, maxRetries: 5 }),
  )
  const authority = await makeAuthority('Commitlet demo')
  const token = randomBytes(16).toString('hex')
  const users = ['x-access-token', 'commitlet'].map((username) => ({ username, password: token }))
  const root = join(folder, 'repositories')
  const server = await leftovers.hold(startGitServer({ root, authority, users }), (open) => open.close())
  const repository = await server.createRepository('acme/config', files && { files })
  const stampKeyFile = join(folder, 'stamp.key')
  await writeFile(stampKeyFile, randomBytes(48), { mode: 0o600 })
  const { caFile, url } = server
  const host = new URL(url).host
  return { folder, authority, caFile, host, token, server, repository, stampKeyFile }
}

/** `git log --stat` of every branch, newest first. */
export function readLog({ repository }: Site, colour: boolean): Promise<string> {
  return repository.git('log', '--stat', '--all', '--decorate', `--color=${colour ? 'always' : 'never'}`)
}
