import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import type { Leftovers } from '../leftovers.ts'
import type { FunctionSite } from '../parts.ts'
import { serveCluster } from './remote-cluster.ts'

/** What the process is told. */
export interface FunctionStart {
  readonly site: FunctionSite
  /** 0: a free one. */
  readonly port: number
  /** How far the cluster's time is ahead of this machine's, in milliseconds. */
  readonly aheadMs: number
}

/** The function as a process with a cluster in this one. */
export interface FunctionProcess {
  readonly url: string
  readonly pid: number
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>
}

const PROGRAM = join(import.meta.dirname, 'function-main.ts')

/** Starts the process, and waits until it listens. Throws where it ends before. */
export function startFunctionProcess(
  start: FunctionStart,
  cluster: Cluster,
  leftovers: Leftovers,
): Promise<FunctionProcess> {
  const child = fork(PROGRAM, [JSON.stringify(start)], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  serveCluster(child, cluster)
  const running = urlOf(child).then((url) => ({ url, pid: child.pid ?? 0, kill: () => kill(child) }))
  void leftovers.hold(Promise.resolve(), () => kill(child))
  return running
}

async function urlOf(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.on('message', ({ url }: { readonly url?: string }) => url !== undefined && resolve(url))
  child.once('exit', () =>
    reject(new Error('The function ended before it listened; LOG_LEVEL=info shows why.')),
  )
  return promise
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
