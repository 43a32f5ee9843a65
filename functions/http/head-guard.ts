import type { Socket } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import { unusable } from './failures.ts'

/**
 * Maximum bytes that a server may send before the final head of an answer is complete. undici limits that head to
 * 16 KiB, but takes any number of interim answers (1xx), and of empty lines before them.
 */
const MOST_BYTES = 64 * 1024
/** Bytes around a body that a byte of it allows besides. A chunk has 5 or more, and undici knows no bound on its extensions. */
const OVERHEAD_PER_BYTE = 1

/** Milliseconds of the thread that a byte takes beside that: it is decrypted, and the whole answer copied. */
const BYTE_MS = 5 / (1024 * 1024)

/** Watches the connection of a dispatcher that has one at a time, with one request at a time. */
export interface HeadGuard {
  /** The same connector, whose connections are watched. */
  readonly watching: (connect: buildConnector.connector) => buildConnector.connector
  /** Tells the guard where answers begin and end. */
  readonly interceptor: Dispatcher.DispatcherComposeInterceptor
}

/**
 * Ends a connection with ProviderUnavailable when the server has sent more than 64 KiB since the end of an answer, or
 * since the request, and the next answer has not begun; or when more than 64 KiB, and as much again as its body has, are
 * not of the body: heads, chunk extensions, trailers. `host` is for the message; `count` is told how many milliseconds of the thread
 * it has taken to read what came: 16 KiB of head may take 2, and 4 MiB of body 24.
 */
export function guardHeads(host: string, count?: (milliseconds: number) => void): HeadGuard {
  let current: Socket | undefined
  let start = 0
  let data = 0
  let isInBody = false

  function expectHead(): void {
    start = current?.bytesRead ?? 0
    data = 0
    isInBody = false
  }

  function check(socket: Socket): void {
    if (socket !== current) return
    // Where the body is not read, undici leaves the rest with the socket.
    const overhead = socket.bytesRead - socket.readableLength - start - data
    if (overhead <= MOST_BYTES + data * OVERHEAD_PER_BYTE) return
    const what = isInBody ? 'around the data of an answer' : 'before an answer'
    socket.destroy(unusable(`more than 64 KiB ${what}`, host))
  }

  function watch(socket: Socket): void {
    current = socket
    expectHead()
    let began = 0
    let counted = socket.bytesRead
    socket.prependListener('readable', () => (began = performance.now()))
    // undici reads in a listener of its own, before this one: what it has not answered by now is no head.
    socket.on('readable', () => {
      count?.(performance.now() - began + (socket.bytesRead - counted) * BYTE_MS)
      counted = socket.bytesRead
      check(socket)
    })
  }

  return {
    watching: (connect) => (options, answer) => {
      connect(options, (...[error, socket]) => {
        if (error !== null) {
          answer(error, null)
          return
        }
        answer(null, socket)
        watch(socket)
      })
    },
    interceptor: (dispatch) => (options, handler) =>
      dispatch(options, {
        ...forward(handler),
        onRequestStart(controller, context) {
          expectHead()
          handler.onRequestStart?.(controller, context)
        },
        onResponseStart(controller, status, headers, text) {
          isInBody = status >= 200
          handler.onResponseStart?.(controller, status, headers, text)
        },
        onResponseData(controller, chunk) {
          data += chunk.length
          handler.onResponseData?.(controller, chunk)
        },
        onResponseEnd(controller, trailers) {
          expectHead()
          handler.onResponseEnd?.(controller, trailers)
        },
      }),
  }
}

/** The methods that are called unchanged. A handler has private parts, which a copy would lack. */
export function forward(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return {
    onRequestUpgrade: (...all) => handler.onRequestUpgrade?.(...all),
    onResponseData: (...all) => handler.onResponseData?.(...all),
    onResponseError: (...all) => handler.onResponseError?.(...all),
  }
}
