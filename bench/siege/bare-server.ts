import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { eventFlood } from './attacks/event-flood.ts'
import { probe } from './probe.ts'
import { recruit } from './siege.ts'
import type { Site } from './site.ts'

/** The attack that a bare server can be compared under. */
export const FLOOD = eventFlood.name
const PROBE_MS = 250

/**
 * Starts a server of node:http that answers 202 to whatever comes, has it flooded with events, and returns how many
 * milliseconds its probes took.
 */
export async function measureBareServer(site: Site, seconds: number): Promise<readonly number[]> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(request.method === 'GET' ? 200 : 202).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const functionURL = `http://127.0.0.1:${port}`
  const orders = site.orders.filter(({ name }) => name === FLOOD).map((order) => ({ ...order, functionURL }))
  const besiegers = await recruit({ plane: site.plane, orders })
  besiegers.begin()
  const ended = new AbortController()
  const probes: Promise<number>[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    probes.push(probe(functionURL, ended.signal))
    await pause(PROBE_MS)
  }
  await besiegers.stop()
  const times = await Promise.all(probes)
  server.closeAllConnections()
  server.close()
  return times
}
