import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { GitCall } from './git-exchange.ts'

/** The answer of `git http-backend`: the CGI head and the body as a stream. */
export interface BackendAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
}

export interface BackendRequest {
  readonly call: GitCall
  readonly request: IncomingMessage
  /** The request's body. */
  readonly body: Readable
  readonly user: string
}

/** `git http-backend` below one folder of bare repositories. */
export interface GitBackend {
  /** Runs the request. The child runs to its end even when the body is not read any more. */
  run(work: BackendRequest): Promise<BackendAnswer>
  /** Ends every child that still runs, with its own children. */
  stop(): void
}

/** Runs each request as a CGI child (RFC 3875) in a process group of its own. */
export function openBackend(root: string): GitBackend {
  const children = new Set<ChildProcess>()
  const program = backendProgram()
  return {
    run({ call, request, body, user }) {
      const child = spawn(program, [], {
        env: { ...variables(call, request), GIT_PROJECT_ROOT: root, REMOTE_USER: user },
        stdio: ['pipe', 'pipe', 'ignore'],
        detached: true,
      })
      children.add(child)
      child.once('close', () => children.delete(child))
      pipeline(body, child.stdin).catch(ignoreEarlyEnd)
      return readHead(child.stdout)
    },
    stop() {
      for (const { pid } of children) if (pid !== undefined) killGroup(pid)
    },
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended, and its end has not been reported yet.
  }
}

// Called without `git` in front, which saves a process for each request.
function backendProgram(): string {
  const folder = execFileSync('git', ['--exec-path'], { env: gitEnvironment(), encoding: 'utf8' })
  return join(folder.trim(), 'git-http-backend')
}

function variables(call: GitCall, request: IncomingMessage): NodeJS.ProcessEnv {
  const { headers } = request
  return {
    ...gitEnvironment(),
    GIT_HTTP_EXPORT_ALL: '1',
    REMOTE_ADDR: '127.0.0.1',
    REQUEST_METHOD: request.method,
    PATH_INFO: call.pathInfo,
    QUERY_STRING: call.query,
    CONTENT_TYPE: headers['content-type'],
    CONTENT_LENGTH: headers['content-length'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
    GIT_PROTOCOL: headers['git-protocol']?.toString(),
  }
}

/** Environment of every git process of the server: without the machine's configuration, with a fixed identity. */
export function gitEnvironment(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Another Writer',
    GIT_AUTHOR_EMAIL: 'writer@example.com',
    GIT_COMMITTER_NAME: 'Another Writer',
    GIT_COMMITTER_EMAIL: 'writer@example.com',
  }
}

async function readHead(output: Readable): Promise<BackendAnswer> {
  const chunks: Buffer[] = []
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks)
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) continue
    const body = new PassThrough()
    body.write(text.subarray(end + 4))
    pipeline(output, body).catch(ignoreEarlyEnd)
    return { ...parseHead(text.subarray(0, end).toString('latin1')), body }
  }
  throw new Error('git http-backend ended without an answer; is its path readable and git whole?')
}

function parseHead(text: string): { status: number; headers: Record<string, string> } {
  const lines = text.split('\r\n').map((line) => line.split(': ', 2) as [string, string])
  const { Status, ...headers } = Object.fromEntries(lines) as Record<string, string>
  return { status: Number.parseInt(Status ?? '200', 10), headers }
}

// The other end of a pipe may close at any time: faults do that.
function ignoreEarlyEnd(): void {}
