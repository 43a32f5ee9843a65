import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { TAP, Test } from 'tap'
import { REQUIRED } from './control-plane.ts'
import { createRepository, type GitRepository, type RepositoryOptions } from './git-repository.ts'
import { startLeashed } from './leash.ts'
import { makeKey, type KeyFiles } from './ssh-keys.ts'
import { freePort, waitFor } from './wait.ts'

export interface SSHServerOptions {
  /** Lines for sshd_config that go before ours: the first of a name counts. */
  readonly config?: readonly string[]
  /** Public halves, as ssh-keygen writes them, of further keys that may write. */
  readonly keys?: readonly string[]
  /** Script instead of git-shell; the command that was asked for is in SSH_ORIGINAL_COMMAND. */
  readonly shell?: string
  /** Default: 127.0.0.1. */
  readonly host?: string
  /** Folder of repositories that are there already; default: a new one. */
  readonly root?: string
}

/** OpenSSH's own server on this machine, with host keys and users' keys made for it. */
export interface SSHServer {
  readonly port: number
  /** The only user: the one that runs the tests. */
  readonly user: string
  /** `ssh://user@127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string
  /** Public host keys, as `type base64`. */
  readonly hostKeys: readonly string[]
  /** Lines for known_hosts. */
  readonly knownHosts: string
  /** May fetch and push. */
  readonly writer: KeyFiles
  /** May fetch alone. */
  readonly reader: KeyFiles
  createRepository(name: string, options?: RepositoryOptions): Promise<GitRepository>
  /** What sshd wrote. */
  log(): Promise<string>
  close(): Promise<void>
}

const SSHD = '/usr/sbin/sshd'
const START_MS = 10_000

/**
 * Runs the tests that need sshd as one subtest of the file, and stops it at their end; where it is not installed
 * they are skipped, loudly.
 */
export function withSSHServer(
  t: TAP | Test,
  tests: (t: Test, server: SSHServer) => Promise<void> | void,
  options: SSHServerOptions = {},
): Promise<unknown> {
  return t.test('with OpenSSH', async (t) => {
    if (!existsSync(SSHD)) {
      const missing = `There is no ${SSHD}; install openssh-server.`
      if (REQUIRED in process.env) throw new Error(missing)
      process.stderr.write(`SKIPPED, ${missing}\n`)
      t.pass('sshd', { skip: missing })
      return
    }
    const server = await startSSHServer(options)
    t.teardown(() => server.close())
    await tests(t, server)
  })
}

/** The keys of every server of this process: to make them takes longer than to start sshd. */
const keysOfServers = once(() => ({
  writer: makeKey('-t', 'ed25519'),
  reader: makeKey('-t', 'ed25519'),
  hosts: [makeKey('-t', 'ed25519'), makeKey('-t', 'ecdsa'), makeKey('-t', 'rsa', '-b', '2048')],
}))

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Starts sshd, with the same keys as the others of this process; its working folder is removed when it stops. */
export async function startSSHServer(options: SSHServerOptions = {}): Promise<SSHServer> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-sshd-'))
  const root = options.root ?? join(folder, 'repositories')
  const { host = '127.0.0.1', keys = [] } = options
  const [port, { username: user }] = [await freePort(), userInfo()]
  const { writer, reader, hosts } = keysOfServers()
  await mkdir(root, { recursive: true })
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
  await Promise.all(hosts.map(({ privateKey }, i) => writeSecret(join(folder, `host-${i}`), privateKey)))
  await writeFile(join(folder, 'shell'), options.shell ?? shellOf(root))
  await chmod(join(folder, 'shell'), 0o755)
  const shells = [
    [writer.publicKey, 'write'],
    [reader.publicKey, 'read'],
    ...keys.map((key) => [key, 'write'] as const),
  ] as const
  const lines = shells.map(([key, right]) => `restrict,command="${folder}/shell ${right}" ${key.trim()}\n`)
  await writeSecret(join(folder, 'authorized_keys'), lines.join(''))
  const config = [
    ...(options.config ?? []),
    ...[`ListenAddress ${host.includes(':') ? `[${host}]` : host}:${port}`, `PidFile ${folder}/pid`],
    ...hosts.map((_, i) => `HostKey ${folder}/host-${i}`),
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    ...['StrictModes no', 'UsePAM no', 'PermitRootLogin yes', 'AcceptEnv GIT_PROTOCOL', 'LogLevel VERBOSE'],
    // bash reads ~/.bashrc when sshd starts it: the user's own file must not affect the tests.
    `SetEnv HOME=${folder}`,
    ...['PasswordAuthentication no', 'KbdInteractiveAuthentication no', 'PrintMotd no'],
  ]
  await writeFile(join(folder, 'config'), config.map((line) => `${line}\n`).join(''))
  const log = join(folder, 'log')
  const leashed = startLeashed(SSHD, ['-D', '-e', '-f', join(folder, 'config')], log)
  await waitFor(`sshd at port ${port}`, () => answers(host, port), START_MS).catch(async (error: unknown) => {
    throw new Error(`sshd did not start: ${await readFile(log, 'utf8')}`, { cause: error })
  })
  const place = host.includes(':') ? `[${host}]` : host
  const url = `ssh://${user}@${place}:${port}`
  const hostKeys = hosts.map(({ publicKey }) => publicKey.split(' ').slice(0, 2).join(' '))
  return {
    port,
    user,
    url,
    hostKeys,
    knownHosts: hostKeys.map((key) => `[${host}]:${port} ${key}\n`).join(''),
    writer,
    reader,
    createRepository: (name, wanted) => createRepository({ root, url }, name, wanted),
    log: () => readFile(log, 'utf8'),
    async close() {
      await leashed.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function writeSecret(file: string, content: string): Promise<void> {
  return writeFile(file, content, { mode: 0o600 })
}

// As at the hosts: paths begin at their own root, and a deploy key may be read-only.
function shellOf(root: string): string {
  return `#!/bin/sh
cd '${root}' || exit 1
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
case "$1 $SSH_ORIGINAL_COMMAND" in
  "read git-receive-pack "*)
    echo 'ERROR: The key you are authenticating with has been marked as read only.' >&2
    exit 1 ;;
esac
exec git shell -c "$(printf %s "$SSH_ORIGINAL_COMMAND" | sed "s#'/#'#")"
`
}

function answers(host: string, port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket
      .once('data', () => resolve(true))
      .once('error', () => resolve(undefined))
      .once('close', () => resolve(undefined))
    socket.once('data', () => socket.destroy())
  })
}
