import https from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'

/** Arrivals per second: the rate for which the latency is promised. */
const RATE = 50

/** Sends a body and returns the status and the text of the answer. */
export type Post = (path: string, body: string) => Promise<{ readonly status: number; readonly text: string }>

/**
 * An open loop: 50 arrivals per second at fixed times, whether or not earlier ones are answered. Returns, for each, the
 * milliseconds from when it was due to the end of its answer. Counting from when it was sent would hide the delay that
 * one slow answer causes to the next. Throws the error of the first `send` that failed.
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

/** A client with keep-alive connections, as many as needed at a time: the way an API server calls its webhooks. */
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
