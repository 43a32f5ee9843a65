import https from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'

/** Arrivals a second: the rate of the promise. */
const RATE = 50

/** Sends a body and answers what came back: its status and its text. */
export type Post = (path: string, body: string) => Promise<{ readonly status: number; readonly text: string }>

/**
 * An open loop: 50 arrivals a second at fixed times, whatever became of those before. Answers the milliseconds from
 * the moment when each was due (not when it was sent, which would forgive whoever holds the next ones up) to its
 * whole answer. Throws what the first `send` that failed threw.
 */
export async function openLoop(
  arrivals: number,
  send: (index: number) => Promise<unknown>,
): Promise<readonly number[]> {
  const began = performance.now()
  const failures: unknown[] = []
  const pending: Promise<number>[] = []
  for (let index = 0; index < arrivals && failures.length === 0; index += 1) {
    const due = began + (index * 1000) / RATE
    await pause(Math.ceil(Math.max(0, due - performance.now())))
    const answered = send(index).catch((error: unknown) => failures.push(error))
    pending.push(answered.then(() => performance.now() - due))
  }
  const times = await Promise.all(pending)
  if (failures.length > 0) throw failures[0]
  return times
}

/** A client over kept-alive connections, as many as are needed at once: as an API server calls its webhooks. */
export function keptAlive(base: string, ca: string): { readonly post: Post; readonly close: () => void } {
  const agent = new https.Agent({ keepAlive: true, ca })
  const headers = { 'content-type': 'application/json' }
  const post: Post = (path, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Post>>>()
    const length = Buffer.byteLength(body)
    const options = { agent, method: 'POST', headers: { ...headers, 'content-length': length } }
    const request = https.request(new URL(path, base), options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
    return promise
  }
  return { post, close: () => agent.destroy() }
}
