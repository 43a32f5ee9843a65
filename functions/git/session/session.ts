import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { Failure } from '../../domain/failure.ts'
import {
  offlineEnvironment,
  type ChildEnvironment,
  type PushBounds,
  type RunSettings,
} from '../process/environment.ts'
import { launch, type EndedWithBytes } from '../process/launcher.ts'
import { failureOf, limitReached, withRanOut } from '../output/classify.ts'
import { withOutput } from '../output/git-output.ts'
import { BROKEN_TIP, TOO_MUCH_MEMORY, TOO_MUCH_WORK, type ErrorContext } from '../output/error-meaning.ts'
import type { SessionLimits } from './limits.ts'
import type { OnlineResult, Transport } from './transport.ts'
import type { Workspace } from '../process/workspace.ts'

const MIB = 1024 * 1024
/** So many times the time of the processor for a git without the network, once the limits were raised. */
const OFFLINE_FACTOR = 2
/** Bytes of the unit in which the launcher limits the size of files, and how many of them are 1 MiB. */
const BLOCK = 512
const BLOCKS = MIB / BLOCK
/** What git says of a branch that names a tree or a file. */
const NO_COMMIT = /^fatal: (?:Not a valid commit: |not a tree object$)/m

/** Runs the git binary for one batch and one repository, in a workspace, with or without the network. */
export interface Session {
  readonly address: RepositoryAddress
  /** The remote in git's arguments: the address, or the name of a remote that the environment configures. */
  readonly url: string
  readonly workspace: Workspace
  readonly context: ErrorContext
  /** Fires when it has to end. */
  readonly signal: AbortSignal
  /** Runs a git that talks to the remote, and returns what its result means. */
  online(args: readonly string[], options?: OnlineOptions): Promise<OnlineResult>
  /**
   * Runs a git without network and login. Throws Internal if it does not exit with 0, NotSupported if it takes too long or too much
   * memory, or finds no commit.
   */
  offline(args: readonly string[], input?: Uint8Array): Promise<string>
  /** The same, with the output as it is. */
  offlineBytes(args: readonly string[], input?: Uint8Array): Promise<Buffer>
  /** So many bytes are about to be held here: waits for higher limits where those are more than a session writes at first. */
  makeRoomFor(bytes: number): Promise<void>
}

export interface OnlineOptions {
  /** It counts towards FETCH_LIMIT. */
  readonly fetches?: boolean
  /** It pushes, within these bounds; called when it begins. */
  readonly push?: () => PushBounds
  /** The protocol's packets are traced: the workspace's `readTrace` has the first of them. */
  readonly traced?: boolean
}

/** Settings that all sessions of a process share. */
export interface SessionSettings {
  /** PATH of the children. */
  readonly path: string
  readonly deadlineSeconds: number
  /** MiB that a session may fetch after its limits were raised. */
  readonly fetchLimitMiB: number
  /** The limits at first. */
  readonly limits: SessionLimits
}

/** Where a session runs, and until when. */
export interface SessionPlace {
  readonly workspace: Workspace
  readonly signal: AbortSignal
  /** Waits for higher limits, and returns them; called once at most. Left out: there are none. */
  readonly raise?: () => Promise<SessionLimits>
  /** Waits until another git may begin; the result is called when it has ended. Default: it may at once. */
  readonly begin?: () => Promise<() => void>
}

/**
 * Opens a session; no git is started yet. Every git in it ends when the signal fires. A git that reaches the first limits
 * runs again with higher ones, unless it may have changed the remote.
 */
export function openSession(settings: SessionSettings, transport: Transport, place: SessionPlace): Session {
  const { workspace, signal, raise, begin = () => Promise.resolve(() => undefined) } = place
  const { folder } = workspace
  const { path, deadlineSeconds, fetchLimitMiB } = settings
  let { limits } = settings
  let mayRaise = raise !== undefined
  let fetched = 0

  async function raiseLimits(): Promise<void> {
    mayRaise = false
    if (raise !== undefined) limits = await raise()
  }

  async function makeRoomFor(bytes: number): Promise<void> {
    if (mayRaise && bytes > limits.fileMiB * MIB) await raiseLimits()
  }

  // Limits what is fetched and traced, whatever a server sends.
  async function environmentOf({ fetches = false, traced, push }: OnlineOptions): Promise<ChildEnvironment> {
    const blocks = Math.max(0, Math.floor(limits.fileMiB * BLOCKS - (fetches ? fetched / BLOCK : 0)))
    return {
      ...transport.environment({ ...runWith(blocks / BLOCKS), push: push?.() }),
      ...(traced === true ? { GIT_TRACE_PACKET: await workspace.startTrace(blocks * BLOCK) } : {}),
    }
  }

  function runWith(fileMiB: number | undefined, cpuSeconds = limits.cpuSeconds): RunSettings {
    return { folder, path, bounds: { ...limits, cpuSeconds, deadlineSeconds, fileMiB } }
  }

  async function inTurn<T>(git: () => Promise<T>): Promise<T> {
    const ended = await begin()
    return git().finally(ended)
  }

  async function runOnline(args: readonly string[], options: OnlineOptions): Promise<OnlineResult> {
    const before = await workspace.fetchedBytes()
    const input = transport.input === undefined ? {} : { input: transport.input }
    return inTurn(async () => {
      const call = { args, folder, environment: await environmentOf(options), ...input }
      const expected = transport.expect(args)
      const ended = withOutput(await launch(call, signal).finally(expected.stop))
      fetched += (await workspace.fetchedBytes()) - before
      return expected.explain(withRanOut(ended, limits.cpuSeconds), context)
    })
  }

  function isRunAgain({ ended, undelivered }: OnlineResult, { fetches = false }: OnlineOptions): boolean {
    const reached = limitReached(ended)
    if (!mayRaise || reached === undefined || !(fetches || undelivered)) return false
    return reached !== 'size' || limits.fileMiB < fetchLimitMiB
  }

  async function runOffline(args: readonly string[], input?: Uint8Array): Promise<EndedWithBytes> {
    await makeRoomFor(input?.length ?? 0)
    // A hundred commits in a directory of 60,000 files take fast-import 4 s, so it may take more than what a server sends.
    const cpuSeconds = mayRaise ? limits.cpuSeconds : limits.cpuSeconds * OFFLINE_FACTOR
    const environment = offlineEnvironment(runWith(undefined, cpuSeconds))
    const call = { args, folder, environment, ...(input === undefined ? {} : { input }) }
    const ended = await inTurn(() => launch(call, signal))
    if (ended.exitCode === 0) return ended
    const reached = limitReached(ended)
    if (mayRaise && reached !== undefined) {
      await raiseLimits()
      return runOffline(args, input)
    }
    if (reached === 'time') throw failureOf(TOO_MUCH_WORK, context)
    if (reached === 'memory') throw failureOf(TOO_MUCH_MEMORY, context)
    if (NO_COMMIT.test(ended.stderr)) throw failureOf(BROKEN_TIP, context)
    const cause = new Error(
      `git ${args[0] ?? ''} ended with ${ended.exitCode ?? 'a signal'}: ${ended.stderr.trim().slice(0, 500)}`,
    )
    const message = `Commitlet could not prepare the commit for ${context.url}; it retries automatically.`
    throw new Failure('Internal', message, { cause })
  }

  const { address, url, secrets, proxied } = transport
  const context = { url: address.text, secrets, proxied, deadlineSeconds, fetchLimitMiB }
  return {
    address,
    url,
    workspace,
    context,
    signal,
    async online(args, options = {}) {
      const before = fetched
      const result = await runOnline(args, options)
      if (!isRunAgain(result, options)) return result
      await raiseLimits()
      await workspace.removeUnfinished()
      fetched = before
      return runOnline(args, options)
    },
    offline: async (args, input) => (await runOffline(args, input)).stdout,
    offlineBytes: async (args, input) => (await runOffline(args, input)).bytes,
    makeRoomFor,
  }
}
