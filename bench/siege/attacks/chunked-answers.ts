import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Attack } from '../attack.ts'
import { breathe } from '../attack.ts'
import { pullRequestAt } from '../pull-request.ts'
import { writeChunks } from '../raw-socket.ts'

const MIB = 1024 * 1024
const BYTES = 4 * MIB
const EVERY_MS = 500

/** A host whose API answers in chunks of one byte each. */
export const chunkedAnswers: Attack = {
  name: 'chunked-answers',
  secrets: ['git'],
  async run({ authority, create }, signal) {
    let [created, answered, sent] = [0, 0, 0]
    const count = (bytes: number): void => void (sent += bytes)
    const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
    const server = createServer({ cert: certPEM, key: keyPEM }, ({ socket }) => {
      answered += 1
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
      const frame = ['[{"title":"', '"}]'] as const
      writeChunks(socket, { bytes: BYTES, frame, count }).catch(() => socket.destroy())
    })
    server.on('secureConnection', (socket) => socket.on('error', () => socket.destroy()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    while (!signal.aborted) {
      const status = await create(pullRequestAt(`https://localhost:${port}`, `answers-${created}`)).catch(
        () => 0,
      )
      if (status === 201) created += 1
      await breathe(signal, EVERY_MS)
    }
    server.closeAllConnections()
    server.close()
    return `${created} pull requests, ${answered} answers, ${(sent / MIB).toFixed(0)} MiB sent`
  },
}
