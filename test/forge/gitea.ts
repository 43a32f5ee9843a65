import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { textMember } from '../../functions/domain/json-value.ts'
import { makeHostTrust, type HostTrust } from '../harness/hosts/host-server.ts'
import { startLeashed } from '../harness/leash.ts'
import { makeKey } from '../harness/ssh-keys.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { basic, giteaAPI, type Ask } from './gitea-api.ts'
import { askingNow, type AskNow } from './asking-now.ts'
import { settingsOf } from './gitea-settings.ts'
import { startIngress, type Ingress } from './ingress.ts'

/** For a machine that is busy with other tests. */
const DEADLINE = 120_000
const ADMIN = 'keeper'

/** A user of the Gitea, with a password. */
export interface GiteaUser {
  readonly name: string
  readonly email: string
  readonly password: string
  /** The API as this user. */
  readonly ask: Ask
  /** The same without waiting. */
  readonly askNow: AskNow
  /** A new token with these scopes, such as `write:repository`. */
  token(...scopes: readonly string[]): Promise<string>
}

/** A real Gitea with an administrator and nothing else. */
export interface Gitea {
  readonly ingress: Ingress
  /** PEM file of the authority that clients have to trust. */
  readonly caFile: string
  /** `http://127.0.0.1:PORT`, without the ingress: for setup. */
  readonly httpOrigin: string
  /** `ssh://git@localhost:PORT` */
  readonly sshOrigin: string
  /** A line for its host key. */
  readonly knownHosts: string
  /** The API as the administrator. */
  readonly ask: Ask
  createUser(name: string): Promise<GiteaUser>
}

/** Starts the Gitea of this folder with an empty database; it ends with the test, and its files are removed. */
export async function startGitea(t: Test, built: string, given?: HostTrust): Promise<Gitea> {
  const trust = given ?? (await makeHostTrust(t))
  const ingress = await startIngress(t, trust.certificate)
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-gitea-'))
  const [httpPort, sshPort] = [await freePort(), await freePort()]
  const hostKey = join(folder, 'host_key')
  const key = makeKey('-t', 'ed25519')
  await writeFile(hostKey, key.privateKey, { mode: 0o600 })
  await writeFile(`${hostKey}.pub`, key.publicKey)
  const [data, config] = [join(built, 'static'), join(folder, 'app.ini')]
  const place = { folder, data, origin: ingress.origin, httpPort, sshPort, hostKey }
  await mkdir(join(folder, 'ssh'), { mode: 0o700 })
  await writeFile(config, settingsOf(place), { mode: 0o600 })
  const log = join(folder, 'log.txt')
  const server = startLeashed(join(built, 'gitea'), ['--config', config, 'web'], log)
  t.teardown(async () => {
    await server.stop('SIGTERM')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  ingress.leadTo(httpPort)
  await ready(httpPort, log)
  const asAdmin = giteaAPI(httpPort, `token ${await makeAdmin(join(built, 'gitea'), config)}`)
  return {
    ingress,
    caFile: trust.caFile,
    httpOrigin: `http://127.0.0.1:${httpPort}`,
    sshOrigin: `ssh://git@localhost:${sshPort}`,
    knownHosts: `[localhost]:${sshPort} ${key.publicKey.trim()}`,
    ask: asAdmin,
    async createUser(name) {
      const password = `pw-${randomBytes(9).toString('base64url')}`
      const email = `${name}@example.com`
      const account = { username: name, email, password, must_change_password: false }
      await asAdmin('POST', '/admin/users', account)
      const authorization = basic(name, password)
      const ask = giteaAPI(httpPort, authorization)
      const askNow = askingNow(httpPort, authorization)
      return { name, email, password, ask, askNow, token: (...scopes) => newToken(ask, name, scopes) }
    },
  }
}

async function ready(port: number, log: string): Promise<void> {
  const isUp = async (): Promise<true | undefined> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/healthz`).catch(() => undefined)
    return answer?.status === 200 || undefined
  }
  await waitFor('answer of Gitea', isUp, DEADLINE).catch(async (error: unknown) => {
    throw new Error(`Gitea is not ready: ${(await readFile(log, 'utf8')).slice(-2000)}`, { cause: error })
  })
}

/** Makes the administrator; returns a token of theirs, which may do everything. */
async function makeAdmin(program: string, config: string): Promise<string> {
  const account = ['--username', ADMIN, '--email', `${ADMIN}@example.com`, '--random-password', '--admin']
  const token = ['--access-token', '--access-token-name', 'setup', '--access-token-scopes', 'all']
  const args = ['--config', config, 'admin', 'user', 'create', ...account, ...token]
  const { stdout } = await promisify(execFile)(program, [...args, '--must-change-password=false'])
  const [made] = /\b[0-9a-f]{40}\b/.exec(stdout) ?? []
  if (made === undefined) throw new Error(`Gitea has made no token: ${stdout}`)
  return made
}

async function newToken(ask: Ask, user: string, scopes: readonly string[]): Promise<string> {
  const name = randomBytes(6).toString('hex')
  const made = textMember(await ask('POST', `/users/${user}/tokens`, { name, scopes }), 'sha1')
  if (made === undefined) throw new Error('Gitea shows no token.')
  return made
}
