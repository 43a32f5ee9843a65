import type { Duplex } from 'node:stream'
import { MessageChannel } from 'node:worker_threads'
import { unlessAborted } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import type { FailureReason } from '../../domain/reasons.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { stopIfAborted, timedOut } from '../process/launcher.ts'
import type { ProgramEnd, OnReached, SSHTarget } from '../ssh-worker/messages.ts'
import { openPortStream, type OnRead } from '../ssh-worker/port-stream.ts'
import type { Heard, ThreadEnd, WorkerThread } from './threads/worker-thread.ts'

/** A login at an SSH server, on one connection. */
export interface SSHSession {
  /** The IP address of the host. */
  readonly remoteAddress: string
  /**
   * Starts a program on the server; `protocol` is the value of GIT_PROTOCOL there.
   * @throws Failure
   */
  exec(command: string, protocol: string | undefined): Promise<SSHProgram>
  /** Why the connection was lost; undefined: it was not, or `close` was called. */
  lost(): Failure | undefined
  /** Whether programs can still be started. */
  isOpen(): boolean
  /** Whether a program was started on it. */
  isUsed(): boolean
  /** Whether no program runs. */
  isIdle(): boolean
  /** Resolves when the programs that run now have ended. */
  idle(): Promise<unknown>
  close(): void
}

/** A program on the server. */
export interface SSHProgram {
  /**
   * Its standard input and output, with backpressure. Each side can be ended alone; destroying it ends the program's
   * channel. It is destroyed, without an error, when the channel or the connection has ended.
   */
  readonly stream: Duplex
  /** How the program ended, as far as that is known. */
  end(): ProgramEnd
  /** Resolves when its channel is closed. */
  readonly closed: Promise<undefined>
}

const NOT_ENDED: ProgramEnd = { words: '', tooMuch: false, exitStatus: undefined }

/** What is told of a session. */
export interface SessionListeners {
  /** Of the server that it connects to. */
  readonly reached?: OnReached
  /** Of what was read from its programs: see port-stream.ts. */
  readonly onRead?: OnRead
  /** Of what the messages of its connection cost: see traffic-guard.ts. */
  readonly took?: OnRead
}

/**
 * Connects, checks the host key, and logs in with the key only, all in the thread.
 * @throws Failure
 */
export async function openSession(
  thread: WorkerThread,
  target: SSHTarget,
  signal: AbortSignal,
  { reached = () => undefined, onRead, took = (_cost, goOn) => goOn() }: SessionListeners = {},
): Promise<SSHSession> {
  stopIfAborted(signal)
  const { address } = target
  const { promise: opened, resolve, reject } = Promise.withResolvers<string>()
  const running = new Set<Promise<undefined>>()
  let lost: Failure | undefined
  let [used, closed] = [false, false]
  const id = thread.listen((message) => {
    if (message.kind === 'reached') reached(message.software)
    else if (message.kind === 'opened') resolve(message.address)
    else if (message.kind === 'took') took(message.cost, () => thread.post({ kind: 'goOn', id }))
    else reject((lost ??= failureOf(message, address)))
  })
  function close(): void {
    if (closed) return
    closed = true
    thread.forget(id)
    thread.post({ kind: 'close', id })
  }
  thread.post({ kind: 'open', id, target })
  const remoteAddress = await unlessAborted(opened, signal, timedOut).catch((error: unknown) => {
    close()
    throw error
  })
  return {
    remoteAddress,
    async exec(command, protocol) {
      used = true
      try {
        const program = await startProgram(thread, { session: id, command, protocol, address, onRead })
        running.add(program.closed)
        void program.closed.then(() => running.delete(program.closed))
        return program
      } catch (error) {
        throw lost ?? error
      }
    },
    lost: () => (closed ? undefined : lost),
    isOpen: () => lost === undefined && !closed && !thread.isEnding(),
    isUsed: () => used,
    isIdle: () => running.size === 0,
    idle: () => Promise.all(running),
    close,
  }
}

interface ProgramCall {
  readonly session: number
  readonly command: string
  readonly protocol: string | undefined
  readonly address: RepositoryAddress
  readonly onRead: OnRead | undefined
}

async function startProgram(
  thread: WorkerThread,
  { address, onRead, ...call }: ProgramCall,
): Promise<SSHProgram> {
  const { port1, port2 } = new MessageChannel()
  const stream = openPortStream(port1, { onRead })
  const started = Promise.withResolvers<undefined>()
  const closed = Promise.withResolvers<undefined>()
  let end = NOT_ENDED
  const id = thread.listen((message) => {
    if (message.kind === 'started') {
      started.resolve(undefined)
      return
    }
    if (message.kind === 'said') {
      end = { ...end, words: end.words + message.more }
      return
    }
    if (message.kind === 'ended') end = message.end
    else started.reject(failureOf(message, address))
    thread.forget(id)
    closed.resolve(undefined)
  })
  thread.post({ kind: 'exec', id, ...call, port: port2 }, [port2])
  try {
    await started.promise
    return { stream, end: () => end, closed: closed.promise }
  } catch (error) {
    stream.destroy()
    throw error
  }
}

function failureOf(message: Heard, address: RepositoryAddress): Failure {
  if (message.kind === 'failed') return new Failure(message.failure.reason, message.failure.message)
  const gone = message.kind === 'gone' ? message : { why: 'crashed' as const, cause: undefined }
  const [reason, rest] = ENDS[gone.why]
  return new Failure(reason, `${address.text} ${rest}`, { cause: gone.cause })
}

const ENDS: Readonly<Record<ThreadEnd, readonly [FailureReason, string]>> = {
  closed: ['NetworkError', 'is no longer connected to Commitlet; Commitlet retries automatically.'],
  turn: [
    'Timeout',
    'was disconnected after a while, because other namespaces waited for one of the few connections to SSH servers; Commitlet retries automatically.',
  ],
  hostile: [
    'NetworkError',
    'was disconnected, because its host broke a limit in another connection; Commitlet retries automatically.',
  ],
  stalled: [
    'Timeout',
    'sends what keeps Commitlet busy for more than 5 s without a result; Commitlet retries automatically, but check the host.',
  ],
  memory: [
    'NetworkError',
    'sends more than fits into the memory for one SSH server; Commitlet retries automatically, but check the host.',
  ],
  crashed: [
    'Internal',
    'was disconnected by an internal error of Commitlet; Commitlet retries automatically.',
  ],
}
