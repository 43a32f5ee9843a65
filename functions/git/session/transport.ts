import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Login, PasswordLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import { secretsOfProxy } from '../../domain/network/proxies.ts'
import { explainCertificate } from './certificate.ts'
import { loginLine, onlineEnvironment, proxyLine, TUNNEL, tunnelEnvironment } from '../process/environment.ts'
import type { ChildEnvironment, Destination, RunSettings } from '../process/environment.ts'
import type { Ended } from '../process/launcher.ts'
import { secretsOf } from '../../domain/credentials/login.ts'
import type { ErrorContext } from '../output/error-meaning.ts'
import { movedFailure, readMoved } from '../output/moved.ts'
import type { Moved } from '../output/moved.ts'
import { readGitOutput } from '../output/git-output.ts'
import { explainSSH, withoutRemote } from '../ssh/ssh-errors.ts'
import type { RemoteTarget } from '../remote.ts'
import type { SSHSessions } from '../ssh/sessions.ts'
import { openSSHTunnel } from '../ssh/tunnel.ts'
import type { Tunnel } from '../ssh/tunnel.ts'
import { classify, UNSENT } from '../output/classify.ts'
import type { Doing, Meaning } from '../output/classify.ts'

/** How git reaches the remote and authenticates. */
export interface Transport {
  readonly address: RepositoryAddress
  /** The remote in git's arguments: the address, or the name of a remote that the environment configures. */
  readonly url: string
  /** What must be masked in text of the remote. */
  readonly secrets: readonly string[]
  readonly proxied: boolean
  /** Standard input of every git that talks to the remote; undefined: none. */
  readonly input: string | undefined
  environment(run: RunSettings): ChildEnvironment
  /** Called before a git with these arguments is started. */
  expect(args: readonly string[]): ExpectedCall
  readonly close: () => void
}

/** A git that is about to talk to the remote. */
export interface ExpectedCall {
  /** Called when it has ended, with or without success. */
  readonly stop: () => void
  /** What its result means. */
  explain(ended: Ended, context: ErrorContext): Promise<OnlineResult>
}

/** How a git that talked to the remote ended. */
export interface OnlineResult {
  readonly ended: Ended
  /** Undefined: it succeeded. */
  readonly meaning: Meaning | undefined
  /** It failed before it had sent anything that could change the remote. */
  readonly undelivered: boolean
  /** The remote says that the repository has moved, which is then also the meaning, even if git succeeded. */
  readonly moved?: Moved | undefined
}

/**
 * Opens the transport for the address.
 * @throws Failure Internal if the login does not fit the address
 */
export async function openTransport(
  { ssh, turn, ...destination }: Destination & { readonly ssh: SSHSessions } & Pick<RemoteTarget, 'turn'>,
  login: Login,
  signal: AbortSignal,
): Promise<Transport> {
  const { address, addresses = [] } = destination
  if (address.scheme !== 'ssh') {
    if (login.method !== 'password') throw mismatch(address, login)
    return overHTTPS(destination, login)
  }
  if (login.method !== 'key') throw mismatch(address, login)
  return overSSH(
    await openSSHTunnel(ssh, { address, addresses, login, turn }, signal),
    address,
    secretsOf(login),
  )
}

function mismatch({ text }: RepositoryAddress, { method }: Login): Failure {
  const message = `${text} cannot be used with a login by ${method}, which Commitlet should have refused before; Commitlet retries automatically.`
  return new Failure('Internal', message)
}

/** Git itself speaks HTTPS; it gets login and proxy through its standard input. */
export function overHTTPS(destination: Destination, login: PasswordLogin): Transport {
  const { address, proxy } = destination
  return {
    address,
    url: address.text,
    secrets: [...secretsOf(login), ...secretsOfProxy(proxy)],
    proxied: proxy !== undefined,
    input: loginLine(login) + proxyLine(proxy),
    environment: (run) => onlineEnvironment(run, destination),
    expect: ([command]) => ({
      stop: noop,
      async explain(ended, context) {
        const meaning =
          ended.exitCode === 0
            ? undefined
            : await withCertificate(classify(ended, doingOf(command), context), destination)
        return unlessMoved({ ended, meaning, undelivered: ended.exitCode === UNSENT }, '', context)
      },
    }),
    close: noop,
  }
}

function doingOf(command: string | undefined): Doing {
  return command === 'push' ? 'push' : 'reading'
}

async function withCertificate(meaning: Meaning, destination: Destination): Promise<Meaning> {
  if (!(meaning instanceof Failure) || meaning.reason !== 'TLSUntrusted') return meaning
  return (await explainCertificate(destination)) ?? meaning
}

/** A push that sent no more than this sent an empty list only (gitprotocol-pack(5), flush-pkt). */
const EMPTY_BYTES = 4

function overSSH(tunnel: Tunnel, address: RepositoryAddress, secrets: readonly string[]): Transport {
  return {
    address,
    url: TUNNEL,
    secrets,
    proxied: false,
    input: undefined,
    environment: (run) => tunnelEnvironment(run, tunnel.url),
    expect([command]) {
      const call = tunnel.expect(command === 'push' ? 'git-receive-pack' : 'git-upload-pack')
      return {
        stop: call.stop,
        async explain(ended, context) {
          const undelivered = call.sentBytes() <= EMPTY_BYTES
          if (ended.exitCode === 0)
            return unlessMoved({ ended, meaning: undefined, undelivered }, call.wordsSoFar(), context)
          const report = await call.readReport()
          const meaning = explainSSH(ended, { ...report, doing: doingOf(command), undelivered }, context)
          return unlessMoved({ ended, meaning, undelivered }, report.words, context)
        },
      }
    },
    close: tunnel.close,
  }
}

/** `words`: what the server has printed outside of Git's protocol. */
function unlessMoved(
  result: Omit<OnlineResult, 'moved'>,
  words: string,
  context: ErrorContext,
): OnlineResult {
  const printed = `${readGitOutput(result.ended).remote}\n${withoutRemote(words)}`
  const moved = readMoved(printed, context)
  return moved === undefined
    ? { ...result, moved }
    : { ...result, moved, meaning: movedFailure(moved, context, 'reading') }
}

function noop(): void {
  return undefined
}
