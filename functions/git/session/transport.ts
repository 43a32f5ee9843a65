import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Login, PasswordLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import { secretsOfProxy } from '../../domain/network/proxies.ts'
import { explainCertificate } from './certificate.ts'
import { loginLine, onlineEnvironment, proxyLine, TUNNEL, tunnelEnvironment } from '../process/environment.ts'
import type { ChildEnvironment, Destination, GitPlace } from '../process/environment.ts'
import type { Ended } from '../process/launcher.ts'
import { secretsOf } from '../../domain/credentials/login.ts'
import type { ErrorContext } from '../output/error-table.ts'
import { explainSSH } from '../ssh/ssh-errors.ts'
import { openSSHTunnel } from '../ssh/tunnel.ts'
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
  /** Standard input of every git that talks to the remote; undefined: none. */
  readonly input: string | undefined
  environment(place: GitPlace): ChildEnvironment
  /** Called before a git with these arguments is started. */
  expect(args: readonly string[]): ExpectedCall
  readonly close: () => void
}

/** A git that is about to talk to the remote. */
export interface ExpectedCall {
  /** It has ended, in whatever way. */
  readonly stop: () => void
  /** What its end means. */
  explain(ended: Ended, context: ErrorContext): Promise<OnlineResult>
}

/** How a git that talked to the remote ended. */
export interface OnlineResult {
  readonly ended: Ended
  /** Undefined: it ended well. */
  readonly meaning: Meaning | undefined
  /** It failed before it had sent anything by which the remote could change. */
  readonly undelivered: boolean
}

/**
 * Opens the transport that belongs to the address.
 * @throws Failure Internal where the login is not of the address's kind
 */
export async function openTransport(
  destination: Destination,
  login: Login,
  signal: AbortSignal,
): Promise<Transport> {
  const { address, addresses = [] } = destination
  if (address.scheme !== 'ssh') {
    if (login.method !== 'password') throw mismatch(address, login)
    return overHTTPS(destination, login)
  }
  if (login.method !== 'key') throw mismatch(address, login)
  return overSSH(await openSSHTunnel({ address, addresses, login }, signal), address, secretsOf(login))
}

function mismatch({ text }: RepositoryAddress, { method }: Login): Failure {
  const message = `${text} cannot be called with a login by ${method}, which Commitlet should have refused before; it is tried again.`
  return new Failure('Internal', message)
}

/** Git itself talks HTTPS; login and proxy reach it by its standard input. */
export function overHTTPS(destination: Destination, login: PasswordLogin): Transport {
  const { address, proxy } = destination
  return {
    address,
    url: address.text,
    secrets: [...secretsOf(login), ...(proxy === undefined ? [] : secretsOfProxy(proxy))],
    proxied: proxy !== undefined,
    input: loginLine(login) + proxyLine(proxy),
    environment: (place) => onlineEnvironment(place, destination),
    expect: () => ({
      stop: nothing,
      async explain(ended, context) {
        const meaning =
          ended.exitCode === 0 ? undefined : await withCertificate(classify(ended, context), destination)
        // Git ends with 128 before it has sent anything, with 1 after (facts: git 2.39).
        return { ended, meaning, undelivered: ended.exitCode === 128 }
      },
    }),
    close: nothing,
  }
}

async function withCertificate(meaning: Meaning, destination: Destination): Promise<Meaning> {
  if (!(meaning instanceof Failure) || meaning.reason !== 'TLSUntrusted') return meaning
  return (await explainCertificate(destination)) ?? meaning
}

/** A push has sent no more than the end of an empty list (gitprotocol-pack(5), flush-pkt). */
const EMPTY_BYTES = 4

function overSSH(tunnel: Tunnel, address: RepositoryAddress, secrets: readonly string[]): Transport {
  return {
    address,
    url: TUNNEL,
    secrets,
    proxied: false,
    input: undefined,
    environment: (place) => tunnelEnvironment(place, tunnel.url),
    expect([command]) {
      const call = tunnel.expect(command === 'push' ? 'git-receive-pack' : 'git-upload-pack')
      return {
        stop: call.stop,
        async explain(ended, context) {
          const undelivered = call.sentBytes() <= EMPTY_BYTES
          if (ended.exitCode === 0) return { ended, meaning: undefined, undelivered }
          return { ended, meaning: explainSSH(ended, await call.readReport(), context), undelivered }
        },
      }
    },
    close: tunnel.close,
  }
}

function nothing(): void {
  return undefined
}
