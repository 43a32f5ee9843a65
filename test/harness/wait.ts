import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Milliseconds between two checks: a tenth of the time waited so far, so that a long wait costs few of them. */
const PAUSE = { least: 20, most: 100 } as const

/**
 * Checks repeatedly until the condition returns something, and returns that; throws an error that
 * names `what` when there is no result within `deadlineMs`. An error of the condition itself is thrown at once.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | undefined | Promise<T | undefined>,
  deadlineMs: number,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    const answer = await condition()
    if (answer !== undefined) return answer
    const waited = performance.now() - began
    if (waited > deadlineMs) throw new Error(`No ${what} within ${deadlineMs} ms.`)
    await setTimeout(Math.min(PAUSE.most, Math.max(PAUSE.least, waited / 10)))
  }
}

/** Below the ports that the kernel gives to connections and to servers on port 0 (ip(7), ip_local_port_range). */
const PORTS = { first: 10_240, count: 20_000 }

/**
 * A port at which nothing listens. It is drawn at random from a range that the kernel leaves alone: between this and
 * the start of a server, which may take seconds, no connection takes it, and no other process that draws its ports here.
 */
export async function freePort(): Promise<number> {
  const port = PORTS.first + randomInt(PORTS.count)
  return (await takePort(port)) ? port : freePort()
}

/** Whether the port is free, and this process has it now, until it ends. */
export async function takePort(port: number): Promise<boolean> {
  return (process.platform !== 'linux' || (await listens(`\0commitlet-port-${port}`))) && isFree(port)
}

/** Whether this process has the name of an abstract socket now (unix(7)), which the kernel takes back from one that has ended. */
function listens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().unref()
    server.once('error', () => resolve(false))
    server.listen({ path }, () => resolve(true))
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
