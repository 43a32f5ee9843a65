import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { Client, ClientChannel, ParsedKey } from 'ssh2'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { KeyLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import { judgeHostKey } from '../../domain/network/host-keys.ts'
import { fingerprintOf, readKnownHosts } from '../../domain/network/known-hosts.ts'
import { stopIfAborted } from '../process/launcher.ts'
import { algorithmsFor, waysIn } from './algorithms.ts'
import { channelRefused, explainHandshake, explainLoss, noteOffer, unreachable } from './connection-errors.ts'
import type { SSHError } from './connection-errors.ts'

/** Where to, and as whom. */
export interface SSHTarget {
  readonly address: RepositoryAddress
  /** IP addresses to try one after the other, all of them checked. */
  readonly addresses: readonly string[]
  readonly login: KeyLogin
  /** Within so many milliseconds the user has to be in; default 15 s. */
  readonly readyMs?: number
}

/** A connection that has let the user in; each command gets a channel of its own. */
export interface SSHConnection {
  /** Starts a command on the server, with the version of Git's protocol in its environment. */
  run(command: string, protocol: string | undefined): Promise<ClientChannel>
  /** Why it is gone; undefined: it is not, or it was closed here. */
  lost(): Failure | undefined
  /** Whether commands can still be started. */
  isOpen(): boolean
  close(): void
}

const CONNECT_MS = 10_000
const READY_MS = 15_000
/** A connection is given up when so many signs of life, so far apart, were not answered. */
const KEEP_ALIVE = { keepaliveInterval: 10_000, keepaliveCountMax: 3 }
const RESOURCE_SHORTAGE = 4

/**
 * Connects and logs in by the key alone, having looked at the host's key. Everything ends when the signal fires.
 * @throws Failure
 */
export async function connectSSH(target: SSHTarget, signal: AbortSignal): Promise<SSHConnection> {
  const { Client, utils } = (await import('ssh2')).default
  const key = utils.parseKey(target.login.privateKey)
  if (key instanceof Error) {
    const message = `The private key for ${target.address.text} cannot be read; put the file into the Secret again.`
    throw new Failure('CredentialsInvalid', message)
  }
  const socket = await openSocket(target, signal)
  return logIn({ target, client: new Client(), key }, socket, signal)
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
      await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) })
      return socket
    } catch (error) {
      socket.destroy()
      stopIfAborted(signal)
      failure = unreachable(address, error instanceof Error && 'code' in error ? error : {})
    }
  }
  throw failure
}

async function logIn(
  { target, client, key }: LoginAttempt,
  socket: Socket,
  signal: AbortSignal,
): Promise<SSHConnection> {
  const { address, login } = target
  const { promise: ready, resolve, reject } = Promise.withResolvers<undefined>()
  const offers: string[] = []
  let [entered, closing] = [false, false]
  let refused: Failure | undefined
  let lost: Failure | undefined
  function fail(error: SSHError): void {
    if (entered && !closing) lost ??= explainLoss(address, error)
    const shown = `${fingerprintOf(key.getPublicSSH())} (${key.type})`
    reject(refused ?? explainHandshake(error, { address, key: shown, offers }))
  }
  client
    .on('ready', () => {
      entered = true
      resolve(undefined)
    })
    .on('error', fail)
    .on('close', () => fail(new Error('closed')))
  try {
    client.connect({
      sock: socket,
      username: address.user ?? '',
      authHandler: waysIn(key, address.user ?? ''),
      algorithms: algorithmsFor(readKnownHosts(login.hostKeys, address).known),
      hostVerifier(shown: Buffer) {
        refused = judgeHostKey(shown, address, login.hostKeys)
        return refused === undefined
      },
      debug(line) {
        if (!entered) noteOffer(offers, line)
      },
      readyTimeout: target.readyMs ?? READY_MS,
      ...KEEP_ALIVE,
    })
  } catch (error) {
    reject(error)
  }
  await ready.catch((error: unknown) => {
    socket.destroy()
    stopIfAborted(signal)
    throw error
  })
  return {
    async run(command, protocol) {
      try {
        return await openChannel({ client, address }, command, protocol)
      } catch (error) {
        throw lost ?? error
      }
    },
    lost: () => lost,
    isOpen: () => lost === undefined && !closing && socket.writable,
    close() {
      closing = true
      client.end()
      // What the server still has to say is not waited for.
      socket.destroy()
    },
  }
}

async function openChannel(
  { client, address }: { readonly client: Client; readonly address: RepositoryAddress },
  command: string,
  protocol: string | undefined,
): Promise<ClientChannel> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>()
  const [service = ''] = command.split(' ')
  const env = protocol === undefined ? {} : { env: { GIT_PROTOCOL: protocol } }
  client.exec(command, env, (error, channel) => {
    if (error === undefined) resolve(channel)
    else reject(channelRefused(address, service, reasonOf(error) === RESOURCE_SHORTAGE))
  })
  return promise
}

function reasonOf(error: Error): unknown {
  return 'reason' in error ? error.reason : undefined
}

// Whoever waits for the socket is told as well; an error that nobody listened for would end the process.
function ignore(): void {
  return undefined
}
