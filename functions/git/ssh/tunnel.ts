import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import { pipeChannel } from './channel-pipe.ts'
import type { ChannelPipe } from './channel-pipe.ts'
import type { SSHTarget } from './connection.ts'
import { openReconnectingSSH } from './reconnect.ts'
import type { ReconnectingSSH } from './reconnect.ts'
import { startGitDaemon } from './git-daemon.ts'
import { commandFor } from './request.ts'
import type { Service } from './request.ts'

/** How Git reaches a repository over SSH: at an address of this machine, behind which this process logs in. */
export interface Tunnel {
  /** Where Git finds it. While a call runs, whoever knows it is served, once: it is told to Git alone. */
  readonly url: string
  /** Runs one git, whose one connection goes to this service. */
  readonly call: <T>(service: Service, run: () => Promise<T>) => Promise<Called<T>>
}

export interface Called<T> {
  readonly result: T
  /** Bytes that Git sent after its request. */
  readonly sentBytes: number
  /** What the server let us know beside what it said to Git; for where Git has failed. */
  readonly account: () => Promise<Account>
}

/** A server's own account of a call. */
export interface Account {
  readonly service: Service
  /** Why there was no channel, or why it broke. */
  readonly failure: Failure | undefined
  /** Beginning of what the program wrote to its standard error. */
  readonly words: string
  /** Undefined: the server did not say. */
  readonly exitStatus: number | undefined
}

/** How long the server may take to say how its program ended, after Git has. */
const LAST_WORDS_MS = 2_000

/**
 * Opens a tunnel for `work`, and takes all of it away afterwards. The connection is made at once, while Git starts,
 * and serves all calls. No key reaches another process.
 */
export async function inTunnel<T>(
  target: SSHTarget,
  signal: AbortSignal,
  work: (tunnel: Tunnel) => Promise<T>,
): Promise<T> {
  const path = `/${randomBytes(16).toString('hex')}`
  const listener = await startGitDaemon(path)
  const line = openReconnectingSSH(target, signal)
  const { address } = target
  try {
    return await work({
      url: `git://127.0.0.1:${listener.port}${path}`,
      async call(service, run) {
        const passage = openPassage({ line, address }, service)
        const expected = listener.expect(service, passage.enter)
        const result = await run().finally(expected.stop)
        return { result, sentBytes: passage.sentBytes(), account: passage.account }
      },
    })
  } finally {
    line.close()
    listener.close()
  }
}

interface Passage {
  readonly enter: (socket: Socket, request: { readonly protocol: string | undefined }) => void
  readonly sentBytes: () => number
  readonly account: () => Promise<Account>
}

function openPassage(
  { line, address }: { readonly line: ReconnectingSSH; readonly address: RepositoryAddress },
  service: Service,
): Passage {
  let carriage: ChannelPipe | undefined
  let failure: Failure | undefined
  async function pass(socket: Socket, protocol: string | undefined): Promise<void> {
    try {
      const channel = await line.run(commandFor(service, address), protocol)
      carriage = pipeChannel(socket, channel)
    } catch (error) {
      failure = asFailure(error)
      socket.destroy()
    }
  }
  return {
    enter: (socket, { protocol }) => void pass(socket, protocol),
    sentBytes: () => carriage?.sentBytes() ?? 0,
    async account() {
      if (carriage === undefined) return { service, failure, words: '', exitStatus: undefined }
      await Promise.race([carriage.closed, wait(LAST_WORDS_MS, undefined, { ref: false })])
      const { words, exitStatus, tooMuch } = carriage.said()
      const broken = exitStatus === undefined ? line.lost() : undefined
      return { service, failure: tooMuch ? talkative(address) : broken, words, exitStatus }
    },
  }
}

function talkative({ text }: RepositoryAddress): Failure {
  const message = `${text} sends more than 16 MiB of messages; use a repository that says less.`
  return new Failure('NotSupported', message)
}
