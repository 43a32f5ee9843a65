import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { simpleGit } from 'simple-git'
import { anySignal } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import { growingBuffer } from '../../domain/network/growing-buffer.ts'
import type { ChildEnvironment } from './environment.ts'
import { keepStderr } from './kept-stderr.ts'
import { readPaced } from './paced-output.ts'
import { readGroup } from './process-group.ts'

/** One call of git in a workspace. */
export interface Call {
  readonly args: readonly string[]
  /** The workspace: working directory of git, with the file `launch`. */
  readonly folder: string
  readonly environment: ChildEnvironment
  /** Standard input; with an online environment it begins with the two lines that contain secrets. */
  readonly input?: string | Uint8Array
}

/** Exit code of a git that has taken all of its time of the processor: the shell's, for SIGXCPU. */
export const RAN_OUT = 128 + 24
/** Exit code of a git that has written to a connection which the other side had closed: the shell's, for SIGPIPE. */
export const BROKEN_PIPE = 128 + 13
/** Above it are the shell's exit codes for a git that a signal has ended; Git itself exits with 129 for wrong options. */
const LAST_EXIT_CODE = 129

/** How a git ended. `exitCode` is undefined where it was killed, but for the two signals above. */
export interface Ended {
  readonly exitCode: number | undefined
  readonly stdout: string
  /** What `keepStderr` keeps of it. */
  readonly stderr: string
  readonly seconds: number
}

/** How it ended, with its output as it is. */
export interface EndedWithBytes extends Ended {
  readonly bytes: Buffer
}

/** How long after an abort what is left of a git is killed here: a second after `timeout` has done so. */
const LEFT_MS = 3_000
/** Of node:diagnostics_channel: Node tells of each child before it begins. */
const CHILDREN = 'child_process'
const OUTPUT_LIMIT_MIB = 16
export const OUTPUT_LIMIT = OUTPUT_LIMIT_MIB * 1024 * 1024

// simple-git refuses these unless they are allowed here; environment.ts sets each of them, none comes from outside.
const UNSAFE = {
  allowUnsafeAskPass: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeHooksPath: true,
  allowUnsafeProtocolOverride: true,
}

/**
 * Where no file descriptor is left, a child has no pipes, and simple-git fails before it listens for the error of the child, which
 * would end the process.
 */
function hearErrors(message: unknown): void {
  const { process: child } = message as { readonly process: ChildProcess }
  if (child.listenerCount('error') === 0) child.on('error', () => undefined)
}

/**
 * Runs git to its end. An error of git is not thrown: it is in the result.
 * @throws Failure Timeout when `signal` fires, NotSupported when git writes more than 16 MiB of output
 */
export async function launch(call: Call, signal: AbortSignal): Promise<EndedWithBytes> {
  stopIfAborted(signal)
  const overflow = new AbortController()
  const ended: { exitCode: unknown; notStarted: Buffer[] } = { exitCode: undefined, notStarted: [] }
  const output = { stdout: growingBuffer(OUTPUT_LIMIT), stderr: keepStderr() }
  const bytes = bytesOf(call.input)
  const abort = anySignal([signal, overflow.signal])
  const group = readGroup()
  let killing: NodeJS.Timeout | undefined
  const killLater = (): void => void (killing = setInterval(group.kill, LEFT_MS))
  const git = simpleGit({
    baseDir: call.folder,
    binary: ['sh', './launch'],
    abort,
    allowEnvironment: Object.keys(call.environment),
    unsafe: UNSAFE,
    // The pipes close when the last process of the group has ended, so no process is left and no output is lost.
    completion: { onClose: true, onExit: false },
    errors(_error, { exitCode, stdErr }) {
      ended.exitCode = exitCode
      ended.notStarted = stdErr
      return undefined
    },
    ...(bytes === undefined ? {} : { input: () => bytes }),
  })
  git.env({ ...call.environment })
  git.outputHandler((_command, stdout, stderr) => {
    // simple-git would keep each piece of the output. Its listeners that notice the end come later.
    for (const stream of [stdout, stderr]) stream.removeAllListeners('data')
    stdout.on('data', (chunk: Buffer) => output.stdout.add(chunk))
    readPaced(stderr, (chunk) => output.stderr.add(group.read(chunk)))
    boundOutput([stdout, stderr], overflow)
  })
  const started = performance.now()
  abort.addEventListener('abort', killLater, { once: true })
  subscribe(CHILDREN, hearErrors)
  try {
    await git.raw([...call.args])
  } finally {
    unsubscribe(CHILDREN, hearErrors)
    abort.removeEventListener('abort', killLater)
    clearInterval(killing)
  }
  stopIfAborted(signal)
  if (overflow.signal.aborted) {
    // What others have written there, they may remove.
    throw new Failure(
      'NotSupported',
      `The remote sends more than ${OUTPUT_LIMIT_MIB} MiB of messages or refs, which is the limit; use a repository with fewer.`,
      { retry: 'slow' },
    )
  }
  return {
    exitCode: exitCodeOf(ended.exitCode),
    bytes: output.stdout.bytes(),
    stdout: output.stdout.bytes().toString(),
    stderr: output.stderr.text() + Buffer.concat(ended.notStarted).toString(),
    seconds: (performance.now() - started) / 1000,
  }
}

/** Without a copy: what is written may have 64 MiB. */
function bytesOf(input: Call['input']): string | Buffer | undefined {
  if (typeof input !== 'object') return input
  return Buffer.from(input.buffer, input.byteOffset, input.byteLength)
}

function exitCodeOf(code: unknown): number | undefined {
  if (typeof code !== 'number') return undefined
  return code <= LAST_EXIT_CODE || code === RAN_OUT || code === BROKEN_PIPE ? code : undefined
}

function boundOutput(streams: readonly NodeJS.ReadableStream[], overflow: AbortController): void {
  let left = OUTPUT_LIMIT
  function count(chunk: Buffer): void {
    left -= chunk.length
    if (left >= 0) return
    overflow.abort()
    // Output that arrives until the process has ended is discarded.
    for (const stream of streams) stream.removeAllListeners('data').resume()
  }
  for (const stream of streams) stream.on('data', count)
}

/** If the signal has fired, throws its reason if that is a Failure, else Timeout. */
export function stopIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return
  if (signal.reason instanceof Failure) throw signal.reason
  throw timedOut()
}

/** The failure of an attempt whose time was over. */
export function timedOut(): Failure {
  return new Failure(
    'Timeout',
    'The attempt ran out of time before the remote answered; Commitlet retries automatically.',
  )
}
