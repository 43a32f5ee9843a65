import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { DelayReady } from './delay-thread.ts'
import type { RepositorySize } from './sample-repository.ts'

/** The token that the Git server accepts. */
export const TOKEN = 'bench-token'

/** What the process of the servers is told to do. */
export type Order =
  | { readonly do: 'create'; readonly name: string; readonly size: RepositorySize }
  | { readonly do: 'copy'; readonly name: string; readonly of: string }
  | { readonly do: 'delay'; readonly roundTripMs: number }
  | { readonly do: 'take' }

/** What clients need to reach the servers. */
export interface Served {
  readonly caFile: string
  readonly port: number
  readonly ssh: ServedSSH
}

/** How to reach the SSH server; a repository is at `url`/NAME.git. */
export interface ServedSSH {
  readonly url: string
  readonly knownHosts: string
  readonly privateKey: string
}

/** A repository of the Git server. `path` is its folder on disk. */
export interface ServedRepository {
  readonly name: string
  readonly url: string
  readonly path: string
}

/** What the Git server was asked over HTTPS. */
export interface Taken {
  readonly requests: number
  /** Requests that push. */
  readonly pushes: number
  /** Through delay proxies. */
  readonly connections: number
  /** That the server took for all requests, from their first byte to the last of the answer. */
  readonly milliseconds: number
}

/** The Git servers of the benchmarks: HTTPS and SSH, in one process of their own. */
export interface GitServers extends Served {
  create(name: string, size: RepositorySize): Promise<ServedRepository>
  /** A further repository with the same content; costs no space. */
  copy(of: ServedRepository, name: string): Promise<ServedRepository>
  /** A port of the HTTPS server at which every round trip takes this much longer, and what it takes in fact. */
  delay(roundTripMs: number): Promise<DelayReady>
  /** What was asked since the last call. */
  take(): Promise<Taken>
  /** Ends the process, and removes all repositories. */
  stop(): Promise<void>
}

const STOP_MS = 20_000

/** Starts the servers; they end with this process, however that ends. */
export async function startGitServers(): Promise<GitServers> {
  const child = fork(join(import.meta.dirname, 'git-servers.ts'), [], {
    env: { ...process.env, TOKEN },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const answers = new Map<number, PromiseWithResolvers<unknown>>()
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let last = 0

  function expect(id: number): Promise<unknown> {
    const answer = Promise.withResolvers<unknown>()
    answers.set(id, answer)
    return answer.promise
  }

  child.on('message', (message) => {
    const { id, value, error } = message as { readonly id: number; readonly value: unknown; error?: string }
    const answer = answers.get(id)
    answers.delete(id)
    if (error === undefined) answer?.resolve(value)
    else answer?.reject(new Error(error))
  })
  void gone.then(() => {
    for (const answer of answers.values()) answer.reject(new Error('The Git servers have ended.'))
  })

  function carryOut(order: Order): Promise<unknown> {
    last += 1
    const answer = expect(last)
    child.send({ id: last, order })
    return answer
  }

  const served = (await expect(0)) as Served
  return {
    ...served,
    create: async (name, size) => (await carryOut({ do: 'create', name, size })) as ServedRepository,
    copy: async (of, name) => (await carryOut({ do: 'copy', of: of.name, name })) as ServedRepository,
    delay: async (roundTripMs) => (await carryOut({ do: 'delay', roundTripMs })) as DelayReady,
    take: async () => (await carryOut({ do: 'take' })) as Taken,
    async stop() {
      if (child.connected) child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await gone
      clearTimeout(timer)
    },
  }
}
