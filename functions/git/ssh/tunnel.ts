import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import { pipeToProgram } from './program-pipe.ts'
import type { ProgramPipe } from './program-pipe.ts'
import { openReconnectingSSH } from './reconnect.ts'
import type { ReconnectingSSH, ReconnectingTarget } from './reconnect.ts'
import { startGitDaemon } from './git-daemon.ts'
import type { GitDaemon } from './git-daemon.ts'
import { commandFor } from './request.ts'
import type { Service } from './request.ts'
import type { SSHProgram } from './session.ts'
import type { SSHSessions } from './sessions.ts'

/** How Git reaches a repository over SSH: through a local port, behind which a session leads to the host. */
export interface Tunnel {
  /** The URL for Git. It is secret: while a call is expected, the first connection to it is served. */
  readonly url: string
  /** Expects one git process, whose one connection goes to this service. */
  expect(service: Service): TunnelCall
  /** Closes the connection and the local port. */
  readonly close: () => void
}

/** The connection of one git process. */
export interface TunnelCall {
  /** Called when git has ended: no connection is accepted any more. */
  readonly stop: () => void
  /** Bytes that it sent after its request. */
  sentBytes(): number
  /** What the program has written to its standard error until now; a message to every user comes before its answer. */
  wordsSoFar(): string
  /** What the server reported outside of Git's protocol, to explain why Git failed. */
  readReport(): Promise<ServerReport>
}

/** What a server reported about a call outside of Git's protocol. */
export interface ServerReport {
  /** Why there was no channel, or why it broke. */
  readonly failure: Failure | undefined
  /** Beginning of what the program wrote to its standard error. */
  readonly words: string
  /** Undefined: the server did not say. */
  readonly exitStatus: number | undefined
}

/** How long the server may take to report how its program ended, after git has ended. */
const EXIT_STATUS_WAIT_MS = 2_000

/**
 * Opens a tunnel. It connects at once, while Git starts, and one session serves all calls. No other process sees the
 * key.
 */
export async function openSSHTunnel(
  sessions: SSHSessions,
  target: ReconnectingTarget,
  signal: AbortSignal,
): Promise<Tunnel> {
  const path = `/${randomBytes(16).toString('hex')}`
  const daemon = await startGitDaemon(path)
  const ssh = openReconnectingSSH(sessions, target, signal)
  return {
    url: `git://127.0.0.1:${daemon.port}${path}`,
    expect: (service) => expectCall({ ssh, daemon, address: target.address }, service),
    close() {
      ssh.close()
      daemon.close()
    },
  }
}

interface TunnelEnds {
  readonly ssh: ReconnectingSSH
  readonly daemon: GitDaemon
  readonly address: RepositoryAddress
}

function expectCall({ ssh, daemon, address }: TunnelEnds, service: Service): TunnelCall {
  let pipe: ProgramPipe | undefined
  let failure: Failure | undefined
  async function connect(socket: Socket, protocol: string | undefined): Promise<void> {
    try {
      pipe = pipeToProgram(socket, await ssh.exec(commandFor(service, address), protocol))
    } catch (error) {
      failure = asFailure(error)
      socket.destroy()
    }
  }
  const expected = daemon.expect(service, (socket, { protocol }) => void connect(socket, protocol))
  return {
    stop: expected.stop,
    sentBytes: () => pipe?.sentBytes() ?? 0,
    wordsSoFar: () => pipe?.program.end().words ?? '',
    async readReport() {
      if (pipe === undefined) return { failure, words: '', exitStatus: undefined }
      return readServerReport({ ssh, address, program: pipe.program })
    },
  }
}

/** A program, and the session in which it ran. */
export interface EndedProgram {
  readonly ssh: ReconnectingSSH
  readonly address: RepositoryAddress
  readonly program: SSHProgram
}

/** What the server reported about a program that has ended, or ends in the next 2 seconds. */
export async function readServerReport({ ssh, address, program }: EndedProgram): Promise<ServerReport> {
  await Promise.race([program.closed, wait(EXIT_STATUS_WAIT_MS, undefined, { ref: false })])
  const { words, exitStatus, tooMuch } = program.end()
  const broken = exitStatus === undefined ? ssh.lost() : undefined
  return { failure: tooMuch ? tooManyMessages(address) : broken, words, exitStatus }
}

function tooManyMessages({ text }: RepositoryAddress): Failure {
  const message = `${text} sends more than 16 MiB of messages, which is the limit; use a repository whose server sends fewer.`
  return new Failure('NotSupported', message, { retry: 'slow' })
}
