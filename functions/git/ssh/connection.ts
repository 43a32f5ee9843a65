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
import { algorithmsFor, authMethods, canSign } from './algorithms.ts'
import { channelRefused, explainHandshake, explainLoss, noteOffer, unreachable } from './connection-errors.ts'
import type { SSHError } from './connection-errors.ts'

/** The host to connect to, and the login. */
export interface SSHTarget {
  readonly address: RepositoryAddress
  /** Checked IP addresses, to try one after the other. */
  readonly addresses: readonly string[]
  readonly login: KeyLogin
  /** Time limit for handshake and login in milliseconds; default 15 s. */
  readonly readyMs?: number
}

/** A connection after the login; each command gets its own channel. */
export interface SSHConnection {
  /** Starts a command on the server, with the version of Git's protocol in its environment. */
  run(command: string, protocol: string | undefined): Promise<ClientChannel>
  /** Why it was lost; undefined: it was not, or `close` was called. */
  lost(): Failure | undefined
  /** Whether commands can still be started. */
  isOpen(): boolean
  close(): void
}

const CONNECT_MS = 10_000
const READY_MS = 15_000
/** A connection counts as lost when this many keepalive messages in a row were not answered. */
const KEEP_ALIVE = { keepaliveInterval: 10_000, keepaliveCountMax: 3 }
const RESOURCE_SHORTAGE = 4

/**
 * Connects, checks the host key, and logs in with the key only. Everything ends when the signal fires.
 * @throws Failure
 */
export async function connectSSH(target: SSHTarget, signal: AbortSignal): Promise<SSHConnection> {
  const { Client, utils } = (await import('ssh2')).default
  const key = utils.parseKey(target.login.privateKey)
  if (key instanceof Error || !(await canSign(key.type, target.login.privateKey))) {
    const message = `The private key for ${target.address.text} cannot be used; put the key file into the Secret again.`
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
  let [loggedIn, closing] = [false, false]
  let refused: Failure | undefined
  let lost: Failure | undefined
  function fail(error: SSHError): void {
    if (loggedIn && !closing) lost ??= explainLoss(address, error)
    const shown = `${fingerprintOf(key.getPublicSSH())} (${key.type})`
    reject(refused ?? explainHandshake(error, { address, key: shown, offers }))
  }
  client
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
        if (!loggedIn) noteOffer(offers, line)
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
      // Does not wait for further messages of the server.
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

// The caller that waits for the socket gets the error too; an error without any listener would end the process.
function ignore(): void {
  return undefined
}
