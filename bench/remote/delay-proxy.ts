import { createServer, connect, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy on 127.0.0.1 that makes every connection as slow as over a long line. */
export interface DelayProxy {
  readonly port: number
  /** Connections since the last call. */
  takeConnections(): number
  close(): Promise<void>
}

export interface DelayOptions {
  /** Where connections go, on 127.0.0.1. */
  readonly port: number
  /** Milliseconds that every round trip takes longer: half in each direction, and one round trip to connect. */
  readonly roundTripMs: number
}

/** Bytes on their way in one direction, above which no more are read. */
const MOST_ON_THE_WAY = 8 * 1024 * 1024
/** A timer of Node's fires up to this much late: the last part of a wait is spent without one. */
const TIMER_MS = 1.2

/** Starts the proxy. */
export async function startDelayProxy({ port, roundTripMs }: DelayOptions): Promise<DelayProxy> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    connections += 1
    const remote = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const connected = performance.now() + roundTripMs
    carry(client, remote, { delayMs: roundTripMs / 2, notBefore: connected })
    carry(remote, client, { delayMs: roundTripMs / 2, notBefore: 0 })
    for (const socket of [client, remote]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    takeConnections() {
      const taken = connections
      connections = 0
      return taken
    },
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

interface Line {
  readonly delayMs: number
  /** By performance.now(): nothing leaves the near end earlier. */
  readonly notBefore: number
}

/** Passes on what arrives, in its order, each part `delayMs` after it came; its end likewise. */
function carry(from: Socket, to: Socket, { delayMs, notBefore }: Line): void {
  const waiting: { readonly due: number; readonly chunk: Buffer | undefined }[] = []
  let bytes = 0
  let isAwaited = false

  function deliver(): void {
    isAwaited = false
    while (waiting[0] !== undefined && waiting[0].due <= performance.now()) {
      const { chunk } = waiting.shift() ?? {}
      if (chunk === undefined) to.end()
      else to.write(chunk)
      bytes -= chunk?.length ?? 0
    }
    if (bytes < MOST_ON_THE_WAY) from.resume()
    awaitNext()
  }

  function awaitNext(): void {
    const [next] = waiting
    if (next === undefined || isAwaited) return
    isAwaited = true
    const rest = next.due - performance.now()
    if (rest > TIMER_MS) setTimeout(deliver, rest - TIMER_MS)
    else setImmediate(deliver)
  }

  function take(chunk: Buffer | undefined): void {
    waiting.push({ due: Math.max(performance.now(), notBefore) + delayMs, chunk })
    bytes += chunk?.length ?? 0
    if (bytes > MOST_ON_THE_WAY) from.pause()
    awaitNext()
  }

  from.on('data', take)
  from.once('end', () => take(undefined))
  from.once('error', () => to.destroy())
  from.once('close', () => {
    if (from.errored !== null || !from.readableEnded) to.destroy()
  })
}
