import { createServer, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Milliseconds between two looks. */
const PAUSE = 20

/**
 * Looks again and again until the condition answers something, and answers that; throws an error that
 * names `what` when nothing came within `deadlineMs`. An error of the condition itself is thrown on at once.
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

/** A port of 127.0.0.1 that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
