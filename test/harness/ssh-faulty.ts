import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import type { Algorithms, Connection, ExecInfo, ServerChannel } from 'ssh2'
import { gitEnvironment } from './git-backend.ts'
import { createRepository, type GitRepository, type RepositoryOptions } from './git-repository.ts'
import { makeKey, type KeyFiles } from './ssh-keys.ts'

/** Behaviour that sshd cannot be configured for; each member is read when it applies. */
export interface SSHFaults {
  /** Host keys of later connections. */
  hostKeys?: readonly string[]
  algorithms?: Algorithms
  /** Whether the fault handles this command (the n-th of the server, from 1) instead. */
  command?: (channel: ServerChannel, command: string, connection: Connection) => boolean
  /** A login is accepted once it resolves. */
  login?: Promise<unknown>
  /** No channel, no command. */
  refuse?: 'channel' | 'exec'
  /** Disconnects where a key is shown (RFC 4253, section 11.1). */
  disconnect?: number
  /** Closes the connection when this many commands have ended. */
  closeAfter?: number
}

/** An SSH server in this process, which accepts every user and serves Git. */
export interface FaultyServer {
  readonly url: string
  readonly knownHosts: string
  readonly hostKey: KeyFiles
  readonly faults: SSHFaults
  /** Hash of an RSA key's signature, else the kind of the key, by which users logged in: one for each connection. */
  readonly logins: string[]
  /** Commands with the value of GIT_PROTOCOL, in order. */
  readonly commands: string[]
  createRepository(name: string, options?: RepositoryOptions): Promise<GitRepository>
  close(): Promise<void>
}

/** Starts the server on 127.0.0.1. */
export async function startFaultyServer(): Promise<FaultyServer> {
  const root = await mkdtemp(join(tmpdir(), 'commitlet-ssh2-'))
  const hostKey = makeKey('-t', 'ed25519')
  const faults: SSHFaults = {}
  const [logins, commands]: [string[], string[]] = [[], []]
  const sockets = new Set<Socket>()
  const state = { root, faults, logins, commands }
  // A server of ssh2 keeps its keys: each connection gets one of its own.
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    const keys = faults.hostKeys ?? [hostKey.privateKey]
    const { algorithms } = faults
    const one = new ssh2.Server({ hostKeys: [...keys], ...(algorithms === undefined ? {} : { algorithms }) })
    one.on('connection', (connection) => serve(state, connection)).injectSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `ssh://git@127.0.0.1:${port}`
  return {
    url,
    hostKey,
    knownHosts: `[127.0.0.1]:${port} ${hostKey.publicKey}`,
    faults,
    logins,
    commands,
    createRepository: (name, options) => createRepository({ root, url }, name, options),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

interface State {
  readonly root: string
  readonly faults: SSHFaults
  readonly logins: string[]
  readonly commands: string[]
}

function serve(state: State, connection: Connection): void {
  const { faults, logins } = state
  let begun = 0
  let ended = 0
  connection.on('error', () => undefined)
  connection.on('authentication', (context) => {
    if (context.method !== 'publickey') context.reject(['publickey'])
    else {
      const isShown = context.signature !== undefined
      if (isShown) logins.push(context.hashAlgo ?? context.key.algo)
      if (faults.disconnect === undefined)
        void Promise.resolve(isShown ? faults.login : undefined).then(() => context.accept())
      else disconnect(connection, faults.disconnect)
    }
  })
  connection.on('session', (accept, reject) => {
    // The client may ask for the next one before it learns of the end.
    if (begun === faults.closeAfter) {
      connection.end()
      return
    }
    if (faults.refuse === 'channel') {
      reject()
      return
    }
    const session = accept()
    const environment: Record<string, string> = {}
    session.on('env', (_agree, _refuse, { key, val }) => {
      environment[key] = val
    })
    session.on('exec', (agree, refuse, info) => {
      if (faults.refuse === 'exec') {
        refuse()
        return
      }
      state.commands.push(`${environment['GIT_PROTOCOL'] ?? ''} ${info.command}`.trim())
      const channel = agree()
      begun += 1
      if (faults.command?.(channel, info.command, connection) === true) return
      run(state, { channel, info, environment })
      channel.on('close', () => {
        ended += 1
        if (ended === faults.closeAfter) connection.end()
      })
    })
  })
}

interface Command {
  readonly channel: ServerChannel
  readonly info: ExecInfo
  readonly environment: Readonly<Record<string, string>>
}

function run({ root }: State, { channel, info, environment }: Command): void {
  const env = { ...gitEnvironment(), ...environment }
  const child = spawn('git', ['shell', '-c', info.command.replace("'/", "'")], { cwd: root, env })
  channel.pipe(child.stdin).on('error', () => undefined)
  child.stdout.pipe(channel, { end: false })
  child.stderr.pipe(channel.stderr, { end: false })
  channel.on('close', () => child.kill())
  child.on('close', (code) => {
    channel.exit(code ?? 1)
    channel.end()
  })
}

/** Ends the connection with a reason; ssh2 itself cannot. */
function disconnect(connection: Connection, reason: number): void {
  const { _protocol: protocol } = connection as unknown as { _protocol: { disconnect(reason: number): void } }
  protocol.disconnect(reason)
  connection.end()
}
