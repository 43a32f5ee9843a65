import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { readLogin } from './login.ts'

/** What happened to an object. */
export type Change = 'ADDED' | 'MODIFIED' | 'DELETED'

const PAUSE_MS = 200

/** Watches the objects of a path for as long as this process runs; lists them again whenever the connection ends. */
export async function watch(
  plane: { readonly kubeconfig: string; readonly url: string },
  path: string,
  on: (change: Change, object: never) => void,
): Promise<never> {
  const { ca, cert, key } = await readLogin(plane.kubeconfig)
  const agent = new Agent({ ca, cert, key })
  for (;;) {
    await follow(`${plane.url}${path}?watch=true`, agent, on).catch(() => undefined)
    await setTimeout(PAUSE_MS)
  }
}

// A watch without a resource version begins with an ADDED for each object.
async function follow(url: string, agent: Agent, on: (change: Change, object: never) => void): Promise<void> {
  const asked = request(url, { agent }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) {
    response.resume()
    return
  }
  for await (const line of createInterface({ input: response })) {
    const { type, object } = JSON.parse(line) as { readonly type: Change | 'ERROR'; readonly object: never }
    if (type === 'ERROR') return
    on(type, object)
  }
}
