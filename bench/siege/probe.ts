import { get } from 'node:http'
import { get as getTLS } from 'node:https'

/** As a kubelet that is patient: the Deployments allow 5 s. */
const PATIENCE_MS = 10_000

/** Milliseconds until the answer, over a connection of its own; Infinity without a 200. */
export function probe(url: string, signal: AbortSignal): Promise<number> {
  const began = performance.now()
  const { promise, resolve } = Promise.withResolvers<number>()
  const options = { agent: false, rejectUnauthorized: false, timeout: PATIENCE_MS, signal }
  const request = (url.startsWith('https') ? getTLS : get)(url, options, (response) => {
    response.resume()
    resolve(response.statusCode === 200 ? performance.now() - began : Infinity)
  })
  const timer = setTimeout(() => request.destroy(), PATIENCE_MS)
  request.once('close', () => {
    clearTimeout(timer)
    resolve(Infinity)
  })
  request.on('error', () => resolve(Infinity))
  return promise
}
