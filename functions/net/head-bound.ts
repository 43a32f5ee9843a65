import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Maximum bytes that a server may send before the head of its answer is complete. node:http limits that head to 16 KiB, but
 * takes any number of interim answers (1xx), each of which costs some microseconds. For undici, functions/http/head-guard.ts
 * does the same.
 */
const MOST_BYTES = 64 * 1024

/** Ends the request with the code HPE_HEADER_OVERFLOW when its server has sent more than 64 KiB, and no answer. */
export function boundHead(request: ClientRequest): void {
  request.once('socket', (socket: Socket) => {
    const start = socket.bytesRead
    let isAnswered = false
    // node:http reads in a listener of its own, before this one: what it has not answered by now is no head.
    const check = (): void => {
      if (!isAnswered && socket.bytesRead - start > MOST_BYTES) request.destroy(overflow())
    }
    const leave = (): void => {
      isAnswered = true
      socket.off('data', check)
    }
    socket.on('data', check)
    request.once('response', leave).once('connect', leave).once('close', leave)
  })
}

function overflow(): Error {
  return Object.assign(new Error('More than 64 KiB came before an answer.'), { code: 'HPE_HEADER_OVERFLOW' })
}
