import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Milliseconds between two checks. */
const PAUSE = 20

/**
 * Checks repeatedly until the condition returns something, and returns that; throws an error that
 * names `what` when there is no result within `deadlineMs`. An error of the condition itself is thrown at once.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | undefined | Promise<T | undefined>,
  deadlineMs: number,
): Promise<T> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const answer = await condition()
    if (answer !== undefined) return answer
    if (performance.now() > deadline) throw new Error(`No ${what} within ${deadlineMs} ms.`)
    await setTimeout(PAUSE)
  }
}

/** Below the ports that the kernel gives to connections and to servers on port 0 (ip(7), ip_local_port_range). */
const PORTS = { first: 10_240, count: 20_000 }

/**
 * A port at which nothing listens. It is drawn at random from a range that the kernel leaves alone: between this and
 * the start of a server, no connection and no other test file takes it.
 */
export async function freePort(): Promise<number> {
  const port = PORTS.first + randomInt(PORTS.count)
  return (await isFree(port)) ? port : freePort()
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
