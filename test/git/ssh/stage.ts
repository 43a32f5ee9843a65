import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import type { Change, Landed } from '../../../functions/domain/commit/change.ts'
import type { KeyLogin } from '../../../functions/domain/credentials/login.ts'
import type { Failure } from '../../../functions/domain/failure.ts'
import { readPrivateKey } from '../../../functions/domain/private-key/private-key.ts'
import { openGit, type Git, type GitSettings } from '../../../functions/git/git.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import type { KeyFiles } from '../../harness/ssh-keys.ts'
import { changeOf, DIRECT, outcomeOf, patience, type EngineName } from '../stage.ts'

/** The login that credentials.ts makes. */
export function keyLogin(
  { privateKey }: Pick<KeyFiles, 'privateKey'>,
  hostKeys: string,
  namespace = 'shop',
): KeyLogin {
  const read = readPrivateKey(Buffer.from(privateKey), { secret: 'shop/git', key: 'ssh-privatekey' })
  const identity = createHash('sha256').update(read).digest('hex')
  return { method: 'key', namespace, privateKey: read, hostKeys, identity, secrets: [privateKey] }
}

/** What goes into authorized_keys. */
export function publicHalf(privateKey: string): string {
  const key = ssh2.utils.parseKey(keyLogin({ privateKey }, '').privateKey)
  if (key instanceof Error) throw key
  return `${key.type} ${key.getPublicSSH().toString('base64')}`
}

/** A change in a repository over SSH. */
export function sshChange(url: string, path: string, more: Partial<Change> & { text?: string } = {}): Change {
  return changeOf('https://git.example.com/a/b', path, { repository: parseRepositoryAddress(url), ...more })
}

/** Writers over SSH, whose files lie in a folder that is counted. */
export interface SSHStage {
  readonly tempDir: string
  open(settings?: Partial<GitSettings>): Git
  /** Pushes with a shared writer. */
  push(change: Change, login: KeyLogin, signal?: AbortSignal): Promise<Landed | Failure>
  leftovers(): Promise<readonly string[]>
  close(): Promise<void>
}

export async function openSSHStage(engine: EngineName = 'git binary'): Promise<SSHStage> {
  const tempDir = await mkdtemp(join(tmpdir(), 'commitlet-stage-'))
  const opened: Git[] = []
  function open(settings: Partial<GitSettings> = {}): Git {
    const path = process.env['PATH'] ?? ''
    const git = openGit({
      tempDir,
      trust: followTrust(undefined),
      fetchLimitMiB: 64,
      path,
      ...DIRECT,
      engine: engine === 'direct' ? 'direct' : 'binary',
      ...settings,
    })
    opened.push(git)
    return git
  }
  const shared = open()
  return {
    tempDir,
    open,
    push: (change, login, signal = patience()) => outcomeOf(shared.push(change, login, signal)),
    leftovers: () => readdir(tempDir),
    async close() {
      for (const git of opened) await git.close()
      await rm(tempDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
