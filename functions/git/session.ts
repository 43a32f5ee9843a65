import type { RepositoryAddress } from '../domain/address.ts'
import { Failure } from '../domain/failure.ts'
import type { Login } from '../domain/change.ts'
import { secretsOfProxy } from '../domain/proxies.ts'
import {
  loginLine,
  offlineEnvironment,
  onlineEnvironment,
  proxyLine,
  type ChildEnvironment,
  type Remote,
} from './environment.ts'
import { launch, type Ended } from './launcher.ts'
import { secretsOf } from './quote.ts'
import type { Scene } from './sayings.ts'
import { explain, type Meaning } from './stderr.ts'
import type { Workspace } from './workspace.ts'

const MIB = 1024 * 1024

/** One batch's dealings with one repository: git in a workspace, with and without the network. */
export interface Session {
  readonly address: RepositoryAddress
  readonly workspace: Workspace
  readonly scene: Scene
  /** Fires when nobody waits for the batch any more. */
  readonly signal: AbortSignal
  /** A git that talks to the remote; says what its end means, undefined where it ended well. */
  online(args: readonly string[], options?: OnlineOptions): Promise<Spoken>
  /** A git that has neither network nor login. Throws Internal where it does not end with 0. */
  offline(args: readonly string[], input?: Uint8Array): Promise<string>
}

export interface OnlineOptions {
  /** What is left of FETCH_LIMIT counts. */
  readonly fetches?: boolean
  /** The protocol's lines go into this file of the workspace. */
  readonly packets?: string
}

/** How a git that talked to the remote ended, and what that means. */
export interface Spoken {
  readonly ended: Ended
  readonly meaning: Meaning | undefined
}

/** What every session of a process has in common. */
export interface Surroundings {
  /** PATH of the children. */
  readonly path: string
  readonly deadlineSeconds: number
  readonly fetchLimitMiB: number
  /** Private memory of each process. */
  readonly memoryMiB: number
}

/** Opens a session; nothing is called yet. */
export function openSession(
  surroundings: Surroundings,
  remote: Remote & { readonly login: Login },
  within: { readonly workspace: Workspace; readonly signal: AbortSignal },
): Session {
  const { workspace, signal } = within
  const { folder } = workspace
  const { path, deadlineSeconds, fetchLimitMiB, memoryMiB } = surroundings
  const bounds = { deadlineSeconds, memoryMiB, fileMiB: undefined }
  const place = { folder, path, bounds }
  const offline = offlineEnvironment(place)
  let fetched = 0
  // Whatever a server says, what is fetched and what is traced of it has a bound.
  function environmentOf({ fetches = false, packets }: OnlineOptions): ChildEnvironment {
    const fileMiB = Math.max(0, fetchLimitMiB - (fetches ? fetched / MIB : 0))
    return {
      ...onlineEnvironment({ ...place, bounds: { ...bounds, fileMiB } }, remote),
      ...(fetches ? {} : { GIT_NO_LAZY_FETCH: '1' }),
      ...(packets === undefined ? {} : { GIT_TRACE_PACKET: `${folder}/${packets}` }),
    }
  }
  const { login, proxy } = remote
  if (login.method === 'key') throw keyless(remote.address)
  const secrets = [...secretsOf(login), ...(proxy === undefined ? [] : secretsOfProxy(proxy))]
  const proxied = proxy !== undefined
  const scene = { url: remote.address.text, secrets, proxied, deadlineSeconds, fetchLimitMiB }
  const input = loginLine(login) + proxyLine(proxy)
  return {
    address: remote.address,
    workspace,
    scene,
    signal,
    async online(args, options = {}) {
      const before = await workspace.packBytes()
      const ended = await launch({ args, folder, environment: environmentOf(options), input }, signal)
      fetched += (await workspace.packBytes()) - before
      return { ended, meaning: ended.exitCode === 0 ? undefined : explain(ended, scene) }
    },
    async offline(args, input) {
      const ended = await launch(
        { args, folder, environment: offline, ...(input === undefined ? {} : { input }) },
        signal,
      )
      if (ended.exitCode === 0) return ended.stdout
      throw new Failure(
        'Internal',
        `Commitlet could not prepare the commit for ${scene.url}; it is tried again.`,
        {
          cause: new Error(
            `git ${args[0] ?? ''} ended with ${ended.exitCode ?? 'a signal'}: ${ended.stderr.trim().slice(0, 500)}`,
          ),
        },
      )
    },
  }
}

function keyless({ text }: Remote['address']): Failure {
  return new Failure(
    'NotSupported',
    `Commitlet does not push over SSH yet (${text}); use the https:// address.`,
  )
}
