import type { Arena, Attack } from '../attack.ts'
import { inLoops } from '../attack.ts'
import { openSocket, untilClosed, writeChunks } from '../raw-socket.ts'

const CONNECTIONS = 4
const ANSWER_MS = 10_000
const MIB = 1024 * 1024

/** An event whose body comes in chunks of one byte each. */
export const functionBodies: Attack = {
  name: 'function-bodies',
  secrets: [],
  run: ({ functionURL }, signal) =>
    postInChunks(signal, {
      url: `${functionURL}/`,
      bytes: 3 * MIB,
      type: 'application/cloudevents+json',
      frame: ['{"specversion":"1.0","type":"a","source":"b","id":"c","data":"', '"}'],
    }),
}

/** An admission review whose body comes in chunks of one byte each. */
export const webhookBodies: Attack = {
  name: 'webhook-bodies',
  secrets: [],
  run: ({ webhookURL }, signal) =>
    postInChunks(signal, {
      url: `${webhookURL}/validate`,
      bytes: 2 * MIB,
      type: 'application/json',
      frame: ['{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"', '"}}'],
    }),
}

interface Post {
  readonly url: Arena['functionURL']
  readonly bytes: number
  readonly type: string
  readonly frame: readonly [string, string]
}

async function postInChunks(signal: AbortSignal, { url, bytes, type, frame }: Post): Promise<string> {
  let sent = 0
  const count = (bytes: number): void => void (sent += bytes)
  const head = [
    `POST ${new URL(url).pathname} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${type}`,
    'Transfer-Encoding: chunked',
    'Connection: close',
  ]
  await inLoops(CONNECTIONS, signal, async () => {
    const socket = await openSocket(url, signal)
    try {
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      await writeChunks(socket, { bytes, frame, count })
      await untilClosed(socket, ANSWER_MS)
    } finally {
      socket.destroy()
    }
  })
  return `${(sent / MIB).toFixed(0)} MiB sent in bodies of ${bytes / MIB} MiB, over ${CONNECTIONS} connections`
}
