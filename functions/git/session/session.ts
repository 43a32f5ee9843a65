import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { Failure } from '../../domain/failure.ts'
import { offlineEnvironment, type ChildEnvironment } from '../process/environment.ts'
import { launch } from '../process/launcher.ts'
import type { ErrorContext } from '../output/error-table.ts'
import type { OnlineResult, Transport } from './transport.ts'
import type { Workspace } from '../process/workspace.ts'

const MIB = 1024 * 1024

/** The git binary for one batch and one repository: in a workspace, with and without the network. */
export interface Session {
  readonly address: RepositoryAddress
  /** What git is called with: the address, or the name of a remote that its environment describes. */
  readonly url: string
  readonly workspace: Workspace
  readonly context: ErrorContext
  /** A git that talks to the remote; says what its end means, undefined where it ended well. */
  online(args: readonly string[], options?: OnlineOptions): Promise<OnlineResult>
  /** A git that has neither network nor login. Throws Internal where it does not end with 0. */
  offline(args: readonly string[], input?: Uint8Array): Promise<string>
}

export interface OnlineOptions {
  /** What is left of FETCH_LIMIT counts. */
  readonly fetches?: boolean
  /** The protocol's lines go into this file of the workspace. */
  readonly packets?: string
}

/** What every session of a process has in common. */
export interface SessionSettings {
  /** PATH of the children. */
  readonly path: string
  readonly deadlineSeconds: number
  readonly fetchLimitMiB: number
  /** Private memory of each process. */
  readonly memoryMiB: number
}

/** Opens a session; nothing is called yet. Every git in it ends when the signal fires. */
export function openSession(
  settings: SessionSettings,
  transport: Transport,
  within: { readonly workspace: Workspace; readonly signal: AbortSignal },
): Session {
  const { workspace, signal } = within
  const { folder } = workspace
  const { path, deadlineSeconds, fetchLimitMiB, memoryMiB } = settings
  const bounds = { deadlineSeconds, memoryMiB, fileMiB: undefined }
  const place = { folder, path, bounds }
  const offline = offlineEnvironment(place)
  let fetched = 0
  // Whatever a server says, what is fetched and what is traced of it has a bound.
  function environmentOf({ fetches = false, packets }: OnlineOptions): ChildEnvironment {
    const fileMiB = Math.max(0, fetchLimitMiB - (fetches ? fetched / MIB : 0))
    return {
      ...transport.environment({ ...place, bounds: { ...bounds, fileMiB } }),
      ...(fetches ? {} : { GIT_NO_LAZY_FETCH: '1' }),
      ...(packets === undefined ? {} : { GIT_TRACE_PACKET: `${folder}/${packets}` }),
    }
  }
  const { address, url, secrets, proxied } = transport
  const context = { url: address.text, secrets, proxied, deadlineSeconds, fetchLimitMiB }
  return {
    address,
    url,
    workspace,
    context,
    async online(args, options = {}) {
      const before = await workspace.packBytes()
      const input = transport.input === undefined ? {} : { input: transport.input }
      const expected = transport.expect(args)
      const call = { args, folder, environment: environmentOf(options), ...input }
      const ended = await launch(call, signal).finally(expected.stop)
      fetched += (await workspace.packBytes()) - before
      return expected.explain(ended, context)
    },
    async offline(args, input) {
      const ended = await launch(
        { args, folder, environment: offline, ...(input === undefined ? {} : { input }) },
        signal,
      )
      if (ended.exitCode === 0) return ended.stdout
      throw new Failure(
        'Internal',
        `Commitlet could not prepare the commit for ${context.url}; it is tried again.`,
        {
          cause: new Error(
            `git ${args[0] ?? ''} ended with ${ended.exitCode ?? 'a signal'}: ${ended.stderr.trim().slice(0, 500)}`,
          ),
        },
      )
    },
  }
}
