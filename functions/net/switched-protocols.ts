import type { ClientRequest } from 'node:http'

/**
 * Calls `told` with the status where the server answers by switching protocols (101), which nothing else tells of, and closes that
 * connection.
 */
export function whenSwitched(request: ClientRequest, told: (status: number) => void): void {
  request.once('upgrade', ({ statusCode = 0 }, socket) => {
    socket.destroy()
    told(statusCode)
  })
}
