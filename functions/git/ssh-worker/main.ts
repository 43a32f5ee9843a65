import { getPriority, setPriority } from 'node:os'
import type { Duplex } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { asFailure } from '../../domain/failure.ts'
import { connectSSH } from './connection.ts'
import type { SSHConnection } from './connection.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { openPortStream } from './port-stream.ts'
import { pipeProgram } from './program.ts'

type Request<K extends ToWorker['kind']> = Extract<ToWorker, { readonly kind: K }>

/** The thread that answers goes first, and where that has much to do this one still has a quarter of the time; git has nice 10. */
const NICE = 5
/** setpriority(2) */
const MOST_NICE = 19
const PULSE_MS = 100
/** What comes within so many milliseconds of a small packet is posted together. */
const GATHER_MS = 1

/**
 * The thread of the SSH server of one namespace at a time: it opens sessions and runs programs there, as the main thread
 * asks for it (messages.ts). It keeps nothing but open connections, so that it can be ended at any time.
 */
function main(port: MessagePort): void {
  const sessions = new Map<number, Promise<SSHConnection>>()
  const closing = new Map<number, AbortController>()
  const streams = new Map<number, Set<Duplex>>()
  /** What goes on when it is told that it may. */
  const waiting = new Map<number, () => void>()

  function post(message: FromWorker): void {
    port.postMessage(message)
  }

  function fail(id: number, error: unknown, hostile = false): void {
    const { reason, message } = asFailure(error)
    post({ kind: 'failed', id, failure: { reason, message }, hostile })
  }

  function close(id: number): void {
    closing.get(id)?.abort()
    closing.delete(id)
    sessions.get(id)?.then((connection) => connection.close(), ignore)
    sessions.delete(id)
    waiting.delete(id)
  }

  function open({ id, target }: Request<'open'>): void {
    const abort = new AbortController()
    const connecting = connectSSH(target, abort.signal, {
      reached: (software) => post({ kind: 'reached', id, software }),
      took(cost, goOn) {
        waiting.set(id, goOn)
        post({ kind: 'took', id, cost })
      },
      lost(why, hostile) {
        if (closing.has(id)) fail(id, why, hostile)
        close(id)
      },
    })
    closing.set(id, abort)
    sessions.set(id, connecting)
    connecting.then(
      ({ remoteAddress }) => post({ kind: 'opened', id, address: remoteAddress }),
      (error: unknown) => {
        if (closing.has(id)) fail(id, error)
        close(id)
      },
    )
  }

  /** The data of a program, until the session is closed: what a lost connection has brought can still be read. */
  function openStream(session: number, data: MessagePort): Duplex {
    const stream = openPortStream(data, { gatherMs: GATHER_MS })
    const all = streams.get(session) ?? new Set()
    streams.set(session, all.add(stream))
    stream.once('close', () => all.delete(stream))
    return stream
  }

  function release(id: number): void {
    close(id)
    for (const stream of streams.get(id) ?? []) stream.destroy()
    streams.delete(id)
  }

  async function exec({ id, session, command, protocol, port: data }: Request<'exec'>): Promise<void> {
    try {
      const connection = await sessions.get(session)
      if (connection === undefined) throw new Error('The session has ended')
      const channel = await connection.run(command, protocol)
      post({ kind: 'started', id })
      const end = await pipeProgram(channel, openStream(session, data), {
        whenWritable: (proceed) => connection.whenWritable(proceed),
        said: (more) => post({ kind: 'said', id, more }),
      })
      post({ kind: 'ended', id, end })
    } catch (error) {
      data.close()
      fail(id, error)
    }
  }

  port.on('message', (request: ToWorker) => {
    if (request.kind === 'begin') setInterval(() => Atomics.add(request.pulse, 0, 1), PULSE_MS)
    else if (request.kind === 'open') open(request)
    else if (request.kind === 'close') release(request.id)
    else if (request.kind === 'goOn') waiting.get(request.id)?.()
    else void exec(request)
  })
}

// The main thread has the failure of a session that could not be opened.
function ignore(): void {
  return undefined
}

// Elsewhere than on Linux it would be for all of the process.
function yieldToOthers(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(MOST_NICE, getPriority() + NICE))
  } catch {
    // A sandbox may not allow it: then all have the same.
  }
}

if (parentPort !== null) {
  yieldToOthers()
  main(parentPort)
}
