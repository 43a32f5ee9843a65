import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import ssh2 from 'ssh2'
import type { Client, ClientChannel, ParsedKey } from 'ssh2'
import { anySignal } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import { judgeHostKey } from '../../domain/network/host-keys.ts'
import { fingerprintOf, readKnownHosts } from '../../domain/network/known-hosts.ts'
import { algorithmsFor, authMethods } from './algorithms.ts'
import {
  explainHandshake,
  explainLoss,
  explainViolation,
  noteOffer,
  softwareIn,
  unreachable,
} from './connection-errors.ts'
import type { SSHError } from './connection-errors.ts'
import { openChannel, takesTinyPackets } from './command-channel.ts'
import { keepFirstLine } from './identification.ts'
import type { OnReached, SSHTarget } from './messages.ts'
import { pacePackets } from './packet-pace.ts'
import type { OnRead } from './port-stream.ts'
import { guardTraffic, type Violation } from './traffic-guard.ts'

/** A connection after the login; each command gets its own channel. */
export interface SSHConnection {
  /** The IP address of the host. */
  readonly remoteAddress: string
  /** Starts a command on the server, with the version of Git's protocol in its environment. */
  run(command: string, protocol: string | undefined): Promise<ClientChannel>
  /** Calls back once there is room for more bytes to the server. */
  whenWritable(proceed: () => void): void
  close(): void
}

/** What is told of a connection. */
export interface ConnectionEvents {
  readonly reached: OnReached
  /** Of what its messages cost besides data (traffic-guard.ts), before more of them are read. */
  readonly took: OnRead
  /**
   * Called once with why it ended if nobody closed it, also when the login has not succeeded yet. `hostile`: the server broke
   * a limit.
   */
  lost(why: Failure, hostile: boolean): void
}

const CONNECT_MS = 10_000
const READY_MS = 15_000
/** Of what a server sends, so much is read where it is no SSH. */
const FIRST_BYTES = 64
/** A connection counts as lost when this many keepalive messages in a row were not answered. */
const KEEP_ALIVE = { keepaliveInterval: 10_000, keepaliveCountMax: 3 }

/**
 * Connects, checks the host key, and logs in with the key only. Everything ends when the signal fires.
 * @throws Failure
 */
export async function connectSSH(
  target: SSHTarget,
  signal: AbortSignal,
  events: ConnectionEvents,
): Promise<SSHConnection> {
  const key = ssh2.utils.parseKey(target.login.privateKey)
  if (key instanceof Error) {
    const message = `The private key for ${target.address.text} cannot be used; put the key file into the Secret again.`
    throw new Failure('CredentialsInvalid', message)
  }
  const socket = await openSocket(target, signal)
  return logIn({ target, client: new ssh2.Client(), key }, socket, events)
}

interface LoginAttempt {
  readonly target: SSHTarget
  readonly client: Client
  readonly key: ParsedKey
}

async function openSocket({ address, addresses }: SSHTarget, signal: AbortSignal): Promise<Socket> {
  let failure = unreachable(address, {})
  for (const host of addresses) {
    const socket = connect({ host, port: address.port, noDelay: true, signal }).on('error', ignore)
    try {
      await once(socket, 'connect', { signal: anySignal([signal, AbortSignal.timeout(CONNECT_MS)]) })
      return socket
    } catch (error) {
      socket.destroy()
      signal.throwIfAborted()
      failure = unreachable(address, error instanceof Error && 'code' in error ? error : {})
    }
  }
  throw failure
}

async function logIn(
  { target, client, key }: LoginAttempt,
  socket: Socket,
  events: ConnectionEvents,
): Promise<SSHConnection> {
  const { address, login } = target
  events.reached()
  const { promise: ready, resolve, reject } = Promise.withResolvers<undefined>()
  const offers: string[] = []
  let first = ''
  let [loggedIn, ended] = [false, false]
  let refused: Failure | undefined
  let lost: Failure | undefined
  function end(why: Failure, hostile: boolean): void {
    if (ended) return
    ended = true
    lost = why
    reject(why)
    events.lost(why, hostile)
  }
  function fail(error: SSHError): void {
    const shown = `${fingerprintOf(key.getPublicSSH())} (${key.type})`
    const handshake = { address, key: shown, offers, first }
    end(refused ?? (loggedIn ? explainLoss(address, error) : explainHandshake(error, handshake)), false)
  }
  function stop(violation: Violation): Failure {
    const why = explainViolation(address, violation)
    end(why, true)
    socket.destroy()
    return why
  }
  const guard = guardTraffic(pacePackets(events.took, socket))
  client
    .on('handshake', () => askForNoProofs(client))
    .on('ready', () => {
      loggedIn = true
      resolve(undefined)
    })
    .on('error', fail)
    .on('close', () => fail(new Error('closed')))
  try {
    client.connect({
      sock: socket,
      username: address.user ?? '',
      authHandler: authMethods(key, address.user ?? ''),
      algorithms: algorithmsFor(readKnownHosts(login.hostKeys, address).known),
      hostVerifier(shown: Buffer) {
        refused = judgeHostKey(shown, address, login.hostKeys)
        return refused === undefined
      },
      debug(line) {
        const violation = guard.trace(line)
        // ssh2 reports it as an error of the connection, and the message has no effect.
        if (violation !== undefined) throw stop(violation)
        if (loggedIn) return
        noteOffer(offers, line)
        const software = softwareIn(line)
        if (software !== undefined) events.reached(software)
      },
      readyTimeout: target.readyMs ?? READY_MS,
      ...KEEP_ALIVE,
    })
    // ssh2 has paused the socket, and adds its own listener later: these are called before it reads the bytes.
    socket.on('data', keepFirstLine(client)).on('data', (piece: Buffer) => {
      if (first.length < FIRST_BYTES) first += piece.toString('latin1', 0, FIRST_BYTES)
      const violation = guard.received(piece.length)
      if (violation !== undefined) stop(violation)
    })
  } catch (error) {
    reject(error)
  }
  await ready.catch((error: unknown) => {
    socket.destroy()
    throw error
  })
  return {
    remoteAddress: socket.remoteAddress ?? '',
    async run(command, protocol) {
      const channel = await openChannel({ client, address }, command, protocol).catch((error: unknown) => {
        // ssh2 throws an error of its own where the socket has ended, and is not closed yet.
        throw lost ?? (error instanceof Failure ? error : explainLoss(address, {}))
      })
      if (takesTinyPackets(channel)) throw stop('tiny packets')
      return channel
    },
    whenWritable(proceed) {
      // ssh2 sends whatever the window allows, and a server may allow 4 GiB.
      if (socket.writableNeedDrain) socket.once('drain', proceed)
      else proceed()
    },
    close() {
      ended = true
      client.end()
      // Does not wait for further messages of the server.
      socket.destroy()
    },
  }
}

/**
 * ssh2 has whoever calls itself OpenSSH prove all host keys that it says it has, and checks each signature: 8 ms for a key of RSA with
 * a large exponent. It has no option to leave that out.
 */
function askForNoProofs(client: Client): void {
  Reflect.set(client, '_remoteVer', '')
}

// The caller that waits for the socket gets the error too; an error without any listener would end the process.
function ignore(): void {
  return undefined
}
