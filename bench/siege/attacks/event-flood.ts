import { randomUUID } from 'node:crypto'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { binaryHeaders } from '../../../webhook/delivery/delivery.ts'
import type { Attack } from '../attack.ts'
import { inLoops } from '../attack.ts'
import { openSocket, write } from '../raw-socket.ts'

const CONNECTIONS = 20
/** Requests that are written at once, before any of them is answered. */
const BATCH = 50
/** So many different ones are made in advance. */
const BATCHES = 200

/** Events of resources that do not exist, each of another one. */
export const eventFlood: Attack = {
  name: 'event-flood',
  secrets: [],
  async run({ functionURL }, signal) {
    let [sent, batch] = [0, 0]
    const batches = Array.from({ length: BATCHES }, () => Array.from({ length: BATCH }, request).join(''))
    await inLoops(CONNECTIONS, signal, async () => {
      const socket = await openSocket(functionURL, signal)
      while (!socket.destroyed) {
        await write(socket, batches[batch++ % BATCHES] ?? '')
        sent += BATCH
      }
    })
    return `${sent} events over ${CONNECTIONS} connections`
  },
}

function request(): string {
  const uid = randomUUID()
  const metadata = { namespace: 'nowhere', name: `nothing-${uid}`, uid, generation: 1 }
  const event = appliedEvent({ apiVersion: 'commitlet.dev/v1', kind: 'GitCommit', metadata, spec: {} }, uid)
  const body = JSON.stringify(event.data)
  const headers = { host: 'localhost', ...binaryHeaders(event, {}), 'content-length': body.length }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `POST / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
