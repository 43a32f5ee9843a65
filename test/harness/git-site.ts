import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import type { BackendAnswer, GitBackend } from './git-backend.ts'
import { isPush, readCall, readCommand, type Command, type Exchange, type GitCall } from './git-exchange.ts'
import {
  answerFalsely,
  breakOff,
  withPackElsewhere,
  type Fault,
  type FaultTable,
  type Http,
} from './git-faults.ts'
import type { HostedAPI } from './hosts/hosted-api.ts'

/** The user with this password (and this user name, where one is given) in Basic authentication. */
export interface GitUser {
  readonly username?: string
  readonly password: string
  /** The user's right where no other is set; default write. */
  readonly right?: Right
}

/** `none` is answered with 404, as by the large hosts; a push with `read` with 403. */
export type Right = 'none' | 'read' | 'write'

/** One line of the server's log. */
export interface LoggedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly repository: string | undefined
  readonly exchange: Exchange | undefined
  /** Known once the body of a POST to upload-pack is read. */
  command: Command | undefined
  /** Whether there was an Authorization header. */
  readonly authorized: boolean
  /** Undefined until there is an answer, and for good where the connection broke before it. */
  readonly status: number | undefined
  /** Bytes on the connection, heads included, counted when the request is over; 0 until then. */
  received: number
  sent: number
  /** From the head of the request to the end of the answer; 0 until then. */
  milliseconds: number
}

/** Everything that is needed to answer a request. */
export interface GitSite {
  readonly users: readonly GitUser[]
  readonly backend: GitBackend
  readonly faults: FaultTable
  readonly requests: LoggedRequest[]
  /** Rights that differ from the user's own, by rightKey. */
  readonly rights: Map<string, Right>
  /** APIs of hosts on the same origin; the first that serves a request answers it. */
  readonly apis: HostedAPI[]
}

/** Key of a user's right in one repository. */
export function rightKey(user: GitUser, repository: string): string {
  return JSON.stringify([user.username, user.password, repository])
}

/** Answers one request: an API's by the API; else faults come first, then login, rights and Git itself. */
export async function serve(site: GitSite, http: Http): Promise<void> {
  const api = site.apis.find((hosted) => hosted.serves(http.request.url ?? '/'))
  if (api !== undefined) return api.handle(http.request, http.response)
  const call = readCall(http.request)
  const entry = log(http, call)
  site.requests.push(entry)
  if (call === undefined) {
    refuse(http, 404)
    return
  }
  const body = call.exchange === 'upload-pack' ? await buffer(http.request) : undefined
  if (body !== undefined) entry.command = readCommand(unpacked(http, body))
  const fault = site.faults.take({
    repository: call.repository,
    exchange: call.exchange,
    command: entry.command,
  })
  const isRead = fault?.kind === 'twice' || (fault?.kind === 'hold' && fault.when === 'read')
  const read = isRead ? await buffer(http.request) : body
  if (fault?.kind === 'hold' && fault.when !== 'after') await fault.until
  if (fault !== undefined && !isCarriedOut(fault))
    return answerFalsely(fault, { ...call, command: entry.command }, http)
  const user = authenticate(site, http)
  const refusal = user === undefined ? 401 : forbidden(site, call, user)
  if (user === undefined || refusal !== undefined) {
    refuse(http, refusal ?? 401)
    return
  }
  return carryOut(site, http, {
    call,
    user,
    fault,
    read,
  })
}

/** The request reaches Git, whatever happens to the answer. */
type CarriedOut = Fault & { kind: 'cut' | 'lost' | 'hold' | 'elsewhere' | 'twice' }

interface Work {
  readonly call: GitCall
  readonly user: GitUser
  readonly fault: CarriedOut | undefined
  /** The body, where it was read already. */
  readonly read: Buffer | undefined
}

async function carryOut(site: GitSite, { request, response }: Http, work: Work): Promise<void> {
  const user = work.user.username ?? 'token'
  function run(): Promise<BackendAnswer> {
    const body = work.read === undefined ? request : Readable.from([work.read])
    return site.backend.run({ call: work.call, request, body, user })
  }
  if (work.fault?.kind === 'twice') {
    await buffer((await run()).body)
    await work.fault.between()
  }
  const answer = await run()
  if (work.fault?.kind === 'cut' || work.fault?.kind === 'lost') return breakOff(work.fault, answer, response)
  if (work.fault?.kind === 'elsewhere') {
    const whole = withPackElsewhere(await buffer(answer.body), work.fault.uri)
    response.writeHead(answer.status, answer.headers).end(whole)
    return
  }
  if (work.fault?.kind === 'hold' && work.fault.when !== 'before') {
    const whole = await buffer(answer.body)
    if (work.fault.when === 'read') work.fault.applied()
    await work.fault.until
    response.writeHead(answer.status, answer.headers).end(whole)
    return
  }
  response.writeHead(answer.status, answer.headers)
  await pipeline(answer.body, response)
}

function isCarriedOut(fault: Fault): fault is CarriedOut {
  return ['cut', 'lost', 'hold', 'elsewhere', 'twice'].includes(fault.kind)
}

function authenticate(site: GitSite, { request }: Http): GitUser | undefined {
  const [scheme, value = ''] = request.headers.authorization?.split(' ') ?? []
  if (scheme?.toLowerCase() !== 'basic') return undefined
  const [username, ...password] = Buffer.from(value, 'base64').toString().split(':')
  const named = site.users.filter((user) => user.username === undefined || user.username === username)
  return named.find((user) => user.password === password.join(':'))
}

function forbidden(site: GitSite, call: GitCall, user: GitUser): 403 | 404 | undefined {
  const right = site.rights.get(rightKey(user, call.repository)) ?? user.right ?? 'write'
  if (right === 'none') return 404
  return right === 'read' && isPush(call.exchange) ? 403 : undefined
}

const REFUSALS = {
  401: 'Invalid username or token.\n',
  403: 'You are not allowed to push to this repository.\n',
  404: 'Repository not found.\n',
} as const

function refuse({ request, response }: Http, status: keyof typeof REFUSALS): void {
  request.resume()
  const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="Git"' } : {}
  response.writeHead(status, { 'content-type': 'text/plain', ...challenge }).end(REFUSALS[status])
}

// Git packs a body of more than 1 KiB.
function unpacked({ request }: Http, body: Buffer): Buffer {
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}

const counted = new WeakMap<Socket, { read: number; written: number }>()

function log({ request, response }: Http, call: GitCall | undefined): LoggedRequest {
  const began = performance.now()
  const entry = {
    method: request.method ?? '',
    path: request.url ?? '',
    repository: call?.repository,
    exchange: call?.exchange,
    command: undefined,
    authorized: request.headers.authorization !== undefined,
    get status() {
      return response.headersSent ? response.statusCode : undefined
    },
    received: 0,
    sent: 0,
    milliseconds: 0,
  }
  const { socket } = request
  response.once('close', () => {
    const before = counted.get(socket) ?? { read: 0, written: 0 }
    counted.set(socket, { read: socket.bytesRead, written: socket.bytesWritten })
    entry.received = socket.bytesRead - before.read
    entry.sent = socket.bytesWritten - before.written
    entry.milliseconds = performance.now() - began
  })
  return entry
}
