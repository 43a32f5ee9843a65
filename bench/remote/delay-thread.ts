import { createServer, connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { median } from '../statistics.ts'
import { startDelayProxy, type DelayOptions } from './delay-proxy.ts'

/** What the thread says first: the port of its proxy, and how long a round trip through it takes in fact. */
export interface DelayReady {
  readonly port: number
  readonly measuredMs: number
}

const PINGS = 15

/**
 * A thread with a delay proxy, so that neither the Git server nor the benchmark holds back what passes through. Says
 * DelayReady; then answers each message with the number of connections since the last one.
 */
const options = workerData as DelayOptions
const proxy = await startDelayProxy(options)
const ready: DelayReady = { port: proxy.port, measuredMs: await measure(options.roundTripMs) }
parentPort?.on('message', () => parentPort?.postMessage(proxy.takeConnections()))
parentPort?.postMessage(ready)

/** The median of some round trips through such a proxy to a server that answers at once. */
async function measure(roundTripMs: number): Promise<number> {
  const echo = createServer({ noDelay: true }, (socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  const between = await startDelayProxy({ port: (echo.address() as AddressInfo).port, roundTripMs })
  const socket = connect({ port: between.port, host: '127.0.0.1', noDelay: true })
  const times: number[] = []
  for (let ping = 0; ping <= PINGS; ping += 1) {
    const began = performance.now()
    socket.write('x')
    await once(socket, 'data')
    // The first one connects, too.
    if (ping > 0) times.push(performance.now() - began)
  }
  socket.destroy()
  await between.close()
  echo.close()
  return median(times)
}
