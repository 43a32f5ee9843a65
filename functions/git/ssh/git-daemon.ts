import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { readRequest } from './request.ts'
import type { Request, Service } from './request.ts'

/** Accepts connections from this machine. */
export interface GitDaemon {
  readonly port: number
  /**
   * Passes the next connection that requests this service at the daemon's path to `take`, once, until `stop` is
   * called. Every other connection is closed without an answer.
   */
  expect(service: Service, take: (socket: Socket, request: Request) => void): { readonly stop: () => void }
  /** Stops listening and closes all connections. */
  readonly close: () => void
}

interface Expected {
  readonly service: Service
  readonly take: (socket: Socket, request: Request) => void
}

/** Listens on a free port of 127.0.0.1, for Git's own protocol (git-daemon(1)) at one path. */
export async function startGitDaemon(path: string): Promise<GitDaemon> {
  const sockets = new Set<Socket>()
  let expected: Expected | undefined

  function accept(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    let bytes = Buffer.alloc(0)
    function read(chunk: Buffer): void {
      bytes = Buffer.concat([bytes, chunk])
      const call = expected
      const request = call === undefined ? undefined : readRequest(bytes, { service: call.service, path })
      if (request === 'incomplete') return
      socket.off('data', read).pause()
      if (call === undefined || request === undefined) {
        socket.destroy()
        return
      }
      expected = undefined
      if (bytes.length > request.length) socket.unshift(bytes.subarray(request.length))
      call.take(socket, request)
    }
    socket.on('data', read)
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, accept).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    expect(service, take) {
      const call = { service, take }
      expected = call
      return {
        stop() {
          if (expected === call) expected = undefined
        },
      }
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
