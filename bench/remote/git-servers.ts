import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { startGitServer } from '../../test/harness/git-server.ts'
import type { LoggedRequest } from '../../test/harness/git-site.ts'
import { startSSHServer } from '../../test/harness/ssh-server.ts'
import type { Order, Served, ServedRepository, Taken } from './servers.ts'
import type { DelayReady } from './delay-thread.ts'
import { fill } from './sample-repository.ts'

/**
 * The Git servers of the benchmarks, in a process of their own so that neither their memory nor their work is counted.
 * Takes orders as messages of the parent process and answers each; ends when the parent disconnects.
 */
const server = await startGitServer({ users: [{ password: process.env.TOKEN ?? '' }] })
const root = dirname(server.caFile)
const ssh = await startSSHServer({ root })
const delays = new Map<number, Worker>()
const MOST_LOOKS = 200
const run = promisify(execFile)

process.on('message', (message) => {
  const { id, order } = message as { readonly id: number; readonly order: Order }
  carryOut(order).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  )
})
process.once('disconnect', () => void end())
// Whoever started this process ends it, also when a terminal sends signals to all.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
process.send?.({ id: 0, value: served() })

function isOpen({ milliseconds }: LoggedRequest): boolean {
  return milliseconds === 0
}

function served(): Served {
  const { url, knownHosts, writer } = ssh
  return { caFile: server.caFile, port: server.port, ssh: { url, knownHosts, privateKey: writer.privateKey } }
}

async function end(): Promise<void> {
  await Promise.all([...delays.values()].map((thread) => thread.terminate()))
  await Promise.all([server.close(), ssh.close()])
  process.exit(0)
}

async function carryOut(order: Order): Promise<ServedRepository | DelayReady | Taken> {
  switch (order.do) {
    case 'create': {
      const repository = await server.createRepository(order.name, {
        empty: true,
        // The one file that Git appends to: copies share their files.
        config: { 'core.logAllRefUpdates': 'false' },
      })
      await fill(repository, order.size)
      return { name: order.name, path: repository.path, url: repository.url }
    }
    case 'copy': {
      const [from, to] = [order.of, order.name].map((name) => join(root, `${name}.git`))
      // Git never writes into a file that is there: copies share all that both have.
      await run('cp', ['-al', from ?? '', to ?? ''])
      return { name: order.name, path: to ?? '', url: `${server.url}/${order.name}.git` }
    }
    case 'delay': {
      const { roundTripMs } = order
      const thread = new Worker(new URL('./delay-thread.ts', import.meta.url), {
        workerData: { port: server.port, roundTripMs },
      })
      const [ready] = (await once(thread, 'message')) as [DelayReady]
      delays.set(ready.port, thread)
      return ready
    }
    case 'take':
      return take()
  }
}

/** A client may have its answer a moment before the server has ended the request. */
async function take(): Promise<Taken> {
  for (let looks = 0; looks < MOST_LOOKS && server.requests.some(isOpen); looks += 1) await pause(1)
  const requests = server.requests.splice(0)
  let connections = 0
  for (const thread of delays.values()) {
    thread.postMessage('take')
    const [taken] = (await once(thread, 'message')) as [number]
    connections += taken
  }
  const pushes = requests.filter(({ exchange }) => exchange === 'receive-pack')
  return {
    requests: requests.length,
    pushes: pushes.length,
    connections,
    milliseconds: requests.reduce((sum, request) => sum + request.milliseconds, 0),
  }
}
