import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Login, PasswordLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import { secretsOfProxy } from '../../domain/network/proxies.ts'
import { explainCertificate } from './certificate.ts'
import { loginLine, onlineEnvironment, proxyLine, TUNNEL, tunnelEnvironment } from '../process/environment.ts'
import type { ChildEnvironment, GitPlace, Remote } from '../process/environment.ts'
import type { Ended } from '../process/launcher.ts'
import { secretsOf } from '../../domain/credentials/login.ts'
import type { ErrorContext } from '../output/error-table.ts'
import { explainSSH } from '../ssh/ssh-errors.ts'
import { inTunnel } from '../ssh/tunnel.ts'
import type { Tunnel } from '../ssh/tunnel.ts'
import { classify } from '../output/classify.ts'
import type { Meaning } from '../output/classify.ts'

/** How git gets to the remote and is let in. */
export interface Transport {
  readonly address: RepositoryAddress
  /** What git is called with: the address, or the name of a remote that its environment describes. */
  readonly url: string
  /** What text of the remote must not show. */
  readonly secrets: readonly string[]
  readonly proxied: boolean
  environment(place: GitPlace): ChildEnvironment
  /** Runs a git by `launch`, which takes its standard input, and says what its end means. */
  speak(call: OnlineCall, context: ErrorContext): Promise<Spoken>
}

export interface OnlineCall {
  readonly args: readonly string[]
  readonly launch: (input?: string) => Promise<Ended>
}

/** How a git that talked to the remote ended. */
export interface Spoken {
  readonly ended: Ended
  /** Undefined: it ended well. */
  readonly meaning: Meaning | undefined
  /** It failed before it had sent anything by which the remote could change. */
  readonly undelivered: boolean
}

/**
 * Hands the transport that belongs to the address to `work`, and takes it down afterwards.
 * @throws Failure Internal where the login is not of the address's kind
 */
export async function inTransport<T>(
  remote: Remote & { readonly login: Login },
  signal: AbortSignal,
  work: (transport: Transport) => Promise<T>,
): Promise<T> {
  const { address, login } = remote
  if (address.scheme !== 'ssh') {
    if (login.method !== 'password') throw mismatch(address, login)
    return work(overHTTPS(remote, login))
  }
  if (login.method !== 'key') throw mismatch(address, login)
  const target = { address, addresses: remote.addresses ?? [], login }
  return inTunnel(target, signal, (tunnel) => work(overSSH(tunnel, address, secretsOf(login))))
}

function mismatch({ text }: RepositoryAddress, { method }: Login): Failure {
  const message = `${text} cannot be called with a login by ${method}, which Commitlet should have refused before; it is tried again.`
  return new Failure('Internal', message)
}

/** Git speaks for itself; login and proxy reach it by its standard input. */
export function overHTTPS(remote: Remote, login: PasswordLogin): Transport {
  const { address, proxy } = remote
  const input = loginLine(login) + proxyLine(proxy)
  return {
    address,
    url: address.text,
    secrets: [...secretsOf(login), ...(proxy === undefined ? [] : secretsOfProxy(proxy))],
    proxied: proxy !== undefined,
    environment: (place) => onlineEnvironment(place, remote),
    async speak({ launch }, context) {
      const ended = await launch(input)
      const meaning = ended.exitCode === 0 ? undefined : await looked(classify(ended, context), remote)
      // Git ends with 128 before it has sent anything, with 1 after (facts: git 2.39).
      return { ended, meaning, undelivered: ended.exitCode === 128 }
    },
  }
}

async function looked(meaning: Meaning, remote: Remote): Promise<Meaning> {
  if (!(meaning instanceof Failure) || meaning.reason !== 'TLSUntrusted') return meaning
  return (await explainCertificate(remote)) ?? meaning
}

/** A push has sent no more than the end of an empty list (gitprotocol-pack(5), flush-pkt). */
const EMPTY_BYTES = 4

function overSSH(tunnel: Tunnel, address: RepositoryAddress, secrets: readonly string[]): Transport {
  return {
    address,
    url: TUNNEL,
    secrets,
    proxied: false,
    environment: (place) => tunnelEnvironment(place, tunnel.url),
    async speak({ args, launch }, context) {
      const service = args[0] === 'push' ? 'git-receive-pack' : 'git-upload-pack'
      const { result: ended, sentBytes, account } = await tunnel.call(service, () => launch())
      const undelivered = sentBytes <= EMPTY_BYTES
      if (ended.exitCode === 0) return { ended, meaning: undefined, undelivered }
      return { ended, meaning: explainSSH(ended, await account(), context), undelivered }
    },
  }
}
