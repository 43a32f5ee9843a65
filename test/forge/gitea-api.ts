import { request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Where Gitea's API is below its address. */
export const API_PATH = '/api/v1'

/** An answer below 300: parsed JSON, or undefined for an empty one. */
export type Ask = (method: string, path: string, content?: object) => Promise<unknown>

/** The API without the ingress, for setup. `authorization` is the header; throws for any answer of 300 or more. */
export function giteaAPI(port: number, authorization: string): Ask {
  return async (method, path, content) => {
    const { promise, resolve, reject } = Promise.withResolvers<{
      readonly status: number
      readonly said: string
    }>()
    const headers = { authorization, 'content-type': 'application/json' }
    const to = { host: '127.0.0.1', port, method, path: API_PATH + path, headers, agent: false }
    request(to, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, said }), reject)
    })
      .once('error', reject)
      .end(content === undefined ? undefined : JSON.stringify(content))
    const { status, said } = await promise
    if (status >= 300 || status < 200) throw new Error(`${method} ${path} ended with ${status}: ${said}`)
    return said === '' ? undefined : (JSON.parse(said) as unknown)
  }
}

/** The header of a user with a password. */
export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
