import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { pathBelow, type Dialect, type HostAnswer, type HostCall } from './dialect.ts'
import { knownPath } from './model.ts'
import type { HostModel } from './model.ts'
import { requestCheck } from './request-check.ts'
import type { RequestCheck } from './request-check.ts'

/** A fault of a request, instead of applying it or after that. */
export type HostFault =
  | { readonly kind: 'answer'; readonly answer: HostAnswer }
  /** Not applied; the answer is made from the request, such as an echo of it. */
  | { readonly kind: 'reply'; reply(request: ArrivedRequest): HostAnswer }
  /** Never answered. */
  | { readonly kind: 'silence' }
  /** Applied after something else has happened. */
  | { readonly kind: 'meanwhile'; happens(): void | Promise<void> }
  /** Applied, and the connection is cut before the answer. */
  | { readonly kind: 'lost answer' }
  /** Applied; the answer is made from the true answer, and sent once it is there. */
  | { readonly kind: 'changed'; change(answer: HostAnswer): HostAnswer | Promise<HostAnswer> }

/** A request before any check. */
export interface ArrivedRequest {
  readonly method: string
  /** With the query and the path of the API. */
  readonly url: string
  readonly headers: Headers
  /** As it was written. */
  readonly body: string
  /** The origin of the stand-in. */
  readonly origin: string
}

export interface SeenRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly body: unknown
  readonly status: number
}

/** A host's API: every request is first checked against the host's table of operations. */
export interface HostHandler {
  /** In the order of their arrival; status 0: never answered. */
  readonly seen: SeenRequest[]
  /** What the host's operations do not allow. */
  readonly violations: string[]
  /** The next request that this matches gets the fault, once for each call. */
  fail(fault: HostFault, fits?: (method: string, path: string) => boolean): void
  /** Removes all planned faults. */
  forget(): void
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** All of it is POST, and the right is checked in the answer. */
const GRAPHQL = '/graphql'

interface PlannedFault {
  readonly fault: HostFault
  readonly fits: (method: string, path: string) => boolean
}

/** Makes the API of a host from its dialect and a model. `origin`: its address. */
export function makeHandler(dialect: Dialect, model: HostModel, origin: () => string): HostHandler {
  const check = requestCheck(dialect.operations, dialect.aliases)
  const planned: PlannedFault[] = []
  const handler: HostHandler = {
    seen: [],
    violations: [],
    fail: (fault, fits = () => true) => void planned.push({ fault, fits }),
    forget: () => void (planned.length = 0),
    async handle(request, response) {
      const method = request.method ?? ''
      const url = new URL(request.url ?? '', 'http://host')
      const path = pathBelow(dialect, url.pathname) ?? url.pathname
      const written = await text(request)
      const body = parsed(written)
      const index = planned.findIndex(({ fits }) => fits(method, path))
      const fault = index < 0 ? undefined : planned.splice(index, 1)[0]?.fault
      const see = (status: number): void =>
        void handler.seen.push({ method, path: path + url.search, body, status })
      if (fault?.kind === 'silence') {
        see(0)
        return
      }
      if (fault?.kind === 'meanwhile') await fault.happens()
      const asked = {
        method,
        path,
        query: url.searchParams,
        contentType: request.headers['content-type'],
        body,
      }
      const headers = new Headers(Object.entries(request.headers).map(([k, v]) => [k, String(v)]))
      const arrived = { method, url: request.url ?? '', headers, body: written, origin: origin() }
      const answer =
        unheard(fault, arrived) ??
        (await answerTo({ ...asked, headers, origin: origin() }, { dialect, model, check, handler }))
      see(answer.status)
      if (fault?.kind === 'lost answer') response.socket?.destroy()
      else send(response, fault?.kind === 'changed' ? await fault.change(answer) : answer)
    },
  }
  return handler
}

/** The answer to a request that is not applied; undefined: it is applied. */
function unheard(fault: HostFault | undefined, arrived: ArrivedRequest): HostAnswer | undefined {
  if (fault?.kind === 'reply') return fault.reply(arrived)
  return fault?.kind === 'answer' ? fault.answer : undefined
}

/** What is not JSON stays text, which the check refuses. */
function parsed(written: string): unknown {
  if (written === '') return undefined
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}

interface Asked extends Omit<HostCall, 'match' | 'apiPath' | 'token'> {
  readonly method: string
  readonly contentType: string | undefined
  readonly headers: Headers
}

interface Stage {
  readonly dialect: Dialect
  readonly model: HostModel
  readonly check: RequestCheck
  readonly handler: HostHandler
}

async function answerTo(asked: Asked, { dialect, model, check, handler }: Stage): Promise<HostAnswer> {
  const complaints = check.complaints(asked)
  if (complaints.length > 0) {
    handler.violations.push(...complaints)
    return { status: 418, body: { message: complaints.join(' ') } }
  }
  const { answers } = dialect
  const toApp = dialect.answerToApp?.(asked, asked.headers, model)
  if (toApp !== undefined) return toApp
  const token = dialect.tokenOf(asked.headers) ?? ''
  const right = model.tokens.get(token)
  if (right === undefined) return answers.unauthorised
  const path = dialect.repositoryOf(asked.path)
  const called = path === undefined ? undefined : knownPath(model, path)
  const known = [model.repository, model.movedTo].map((place) => place?.join('/').toLowerCase())
  if (called !== undefined && (right === 'stranger' || !known.includes(called))) return answers.notFound
  if (right === 'read' && asked.method !== 'GET' && asked.path !== GRAPHQL) return answers.missingScope
  for (const route of dialect.routes) {
    const match = route.method === asked.method ? route.path.exec(asked.path) : null
    if (match === null) continue
    const call = { ...asked, match, apiPath: dialect.apiPath, token }
    if (called === known[0] && model.movedTo !== undefined) return answers.moved(call, model.movedTo)
    if (model.archived && asked.method !== 'GET') return answers.archived
    return route.answer(call, model)
  }
  return { status: 404, body: { message: `The stand-in has no ${asked.method} ${asked.path}.` } }
}

function send(response: ServerResponse, { status, headers = {}, body }: HostAnswer): void {
  const isText = typeof body === 'string'
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
  response.writeHead(status, { 'content-type': type, ...headers })
  response.end(isText ? body : JSON.stringify(body))
}
