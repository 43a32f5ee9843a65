import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import { buildApp } from '../functions/app.ts'
import { NO_SEARCH } from '../functions/arrival/arrivals.ts'
import { PING_TYPE } from '../functions/domain/event/ping.ts'
import { TIMING } from '../functions/net/timing.ts'
import { waitFor } from './harness/wait.ts'

/** Of the function. */
const MOST_CONNECTIONS = 2_048

t.test('requests that wait without a place keep no new connection out', async (t) => {
  const swept = Promise.withResolvers<undefined>()
  const searches = { sweep: () => swept.promise, lookFor: () => NO_SEARCH }
  const timing = { ...TIMING, wait: (_: number, signal: AbortSignal) => pause(60_000, undefined, { signal }) }
  const app = buildApp(() => Promise.resolve(), pino({ level: 'silent' }), { searches, timing })
  const seen = { requests: 0, open: 0 }
  app.server.on('request', () => (seen.requests += 1))
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const open = (sent: string): Socket => {
    const socket = connect({ port, host: '127.0.0.1' })
    seen.open += 1
    return socket
      .on('error', () => undefined)
      .on('close', () => (seen.open -= 1))
      .on('connect', () => socket.write(sent))
  }
  const ping = `POST / HTTP/1.1\r\nhost: x\r\nce-specversion: 1.0\r\nce-id: 1\r\nce-source: x\r\nce-type: ${PING_TYPE}\r\n\r\n`
  for (let sent = 0; sent < MOST_CONNECTIONS; sent += 64) {
    for (let index = 0; index < 64; index += 1) open(ping)
    await waitFor('its requests', () => seen.requests === sent + 64 || undefined, 20_000)
  }
  t.equal(seen.open, MOST_CONNECTIONS)
  const probe = open('GET /health/liveness HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  t.match(await text(probe), /^HTTP\/1.1 200 /)
  swept.resolve(undefined)
  app.server.closeAllConnections()
  await app.close()
})
