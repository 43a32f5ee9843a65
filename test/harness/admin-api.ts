import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Certificate } from './certificates.ts'

/** The answer of the API server; `body` is the parsed JSON. */
export interface Answered {
  readonly status: number
  readonly body: unknown
  /** The texts of its Warning headers. */
  readonly warnings: readonly string[]
}

type Headers = Readonly<Record<string, string>>

/** The admin's client of the API server: one connection that is kept, instead of one kubectl process per call. */
export interface AdminAPI {
  /** The answer, whatever its status. A body is JSON unless a header says otherwise. */
  ask(method: string, path: string, body?: object, headers?: Headers): Promise<Answered>
  /** The body of an answer below 300; throws on any other, with what the API server says. */
  need(method: string, path: string, body?: object, headers?: Headers): Promise<unknown>
}

/** Where the API server is, who may sign its certificate, and the admin's own. */
export interface AdminLogin extends Certificate {
  readonly url: string
  /** Read for each request. */
  readonly trusted: readonly string[]
}

/** Opens no connection before the first request. */
export function openAdminAPI({ url, trusted, certPEM, keyPEM }: AdminLogin): AdminAPI {
  const agent = new Agent({ keepAlive: true, cert: certPEM, key: keyPEM })

  const ask: AdminAPI['ask'] = (method, path, body, given = {}) => {
    const headers = body === undefined ? given : { 'content-type': 'application/json', ...given }
    const { promise, resolve, reject } = Promise.withResolvers<Answered>()
    const options = { method, agent, headers, timeout: 60_000, ca: [...trusted] }
    const asked = request(`${url}${path}`, options, (response) => {
      const warnings = warningsIn(response.headers.warning)
      text(response).then(
        (said) => resolve({ status: response.statusCode ?? 0, body: parsed(said), warnings }),
        reject,
      )
    })
    asked.once('timeout', () => asked.destroy(new Error(`${method} ${path} took more than a minute.`)))
    asked.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }

  return {
    ask,
    async need(...question) {
      const answer = await ask(...question)
      const [method, path] = question
      if (answer.status < 300) return answer.body
      throw new Error(`${method} ${path} ended with ${answer.status}: ${JSON.stringify(answer.body)}`)
    },
  }
}

/** `299 - "text"`, separated by commas (RFC 9111, as the API server writes it). */
function warningsIn(header = ''): readonly string[] {
  return [...header.matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)].map(([, quoted = '""']) =>
    quoted.slice(1, -1).replace(/\\(.)/g, '$1'),
  )
}

function parsed(said: string): unknown {
  try {
    return JSON.parse(said)
  } catch {
    return said
  }
}
