import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { SINK_LIMITS, type SinkLimits } from '../../../webhook/delivery/sink-limits.ts'
import { openSink } from '../../../webhook/delivery/sink.ts'
import type { Intervals } from '../../../webhook/delivery/sweep.ts'
import { startSweeps } from '../../../webhook/delivery/sweep.ts'
import type { StoredResource } from '../../harness/paging-server.ts'
import { pagingServer, pendingIn } from '../../harness/paging-server.ts'
import { isLong, sized } from '../../harness/sample.ts'
import { waitFor } from '../../harness/wait.ts'
import { recordingLog, startSink } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 2)

const UNSETTLED = { unsettledMs: 50, fullMs: 0 }
const DEADLINE = 30_000

/** The real sweeps and the real sink, between an API server's stand-in and a sink that answers for some namespaces. */
async function stage(t: Test, resources: readonly StoredResource[], limits: Partial<SinkLimits> = {}) {
  const api = pagingServer()
  api.store(resources)
  const server = await startSink()
  const held: ServerResponse[] = []
  const hangs = { namespace: '' }
  server.answer = (response) => {
    const { namespace, name } = server.received.at(-1)?.data ?? {}
    if (namespace === hangs.namespace) return held.push(response)
    api.settle(namespace, name)
    return response.writeHead(202).end()
  }
  const { log, lines } = recordingLog()
  const target = { url: server.url, extensions: {}, caCerts: undefined }
  const sink = openSink(target, log, { ...SINK_LIMITS, ...limits })
  const start = (intervals: Intervals) => {
    const stop = startSweeps({ cluster: connectCluster(api.server), sink, log }, intervals)
    t.teardown(async () => {
      await stop()
      await sink.drain(0)
      await server.close()
    })
  }
  const arrivedOf = (namespace: string) =>
    server.received.filter(({ data }) => data.namespace === namespace).length
  const arrived = (namespace: string, count: number) =>
    waitFor(`${count} of ${namespace}`, () => (arrivedOf(namespace) >= count ? true : undefined), DEADLINE)
  return { api, server, start, arrived, arrivedOf, lines, hangs }
}

for (const count of isLong() ? [10_100, 100_000] : [10_100]) {
  t.test(`${count} due resources of one namespace do not keep out those of another`, async (t) => {
    const { start, arrived, hangs, api } = await stage(t, [
      ...pendingIn('aaa', count),
      ...pendingIn('shop', 3),
    ])
    hangs.namespace = 'aaa'
    start(UNSETTLED)
    await arrived('shop', 3)
    t.ok(api.asked.reads < 2_000, `${api.asked.reads} resources were read`)
  })
}

drawn('the backlog of one namespace is worked off, whatever the size of the queue', async (t) => {
  const count = sized(300, 1_000)
  const { start, server } = await stage(t, pendingIn('aaa', count), { waitingPerNamespace: 100 })
  start(UNSETTLED)
  const names = () => new Set(server.received.map(({ data }) => data.name)).size
  await waitFor('all', () => (names() === count ? true : undefined), DEADLINE)
})

const NAMESPACES = sized(600, 2_000)
drawn(`${NAMESPACES} namespaces with one due resource each are all taken up, in one round`, async (t) => {
  const resources = Array.from({ length: NAMESPACES }, (_, index) => pendingIn(`of-${index}`, 1)).flat()
  const { start, server, api } = await stage(t, resources)
  start({ unsettledMs: 0, fullMs: 60_000 })
  await waitFor('all', () => (server.received.length === NAMESPACES ? true : undefined), DEADLINE)
  t.equal(api.asked.reads, NAMESPACES)
})

drawn('where more namespaces are due than may wait, another one is first each time', async (t) => {
  const resources = Array.from({ length: 60 }, (_, index) => pendingIn(`of-${index}`, 1)).flat()
  const limits = { inFlight: 1, waiting: 4, slotMs: 20, overdue: 4 }
  const { start, server, api } = await stage(t, resources, limits)
  // Nobody is ever settled: who is first in the list would be first in each round.
  api.settles = false
  start({ unsettledMs: 5, fullMs: 0 })
  const namespaces = () => new Set(server.received.map(({ data }) => data.namespace)).size
  await waitFor('all', () => (namespaces() === 60 ? true : undefined), DEADLINE)
})

drawn('an API server that refuses one call in three keeps out nobody', async (t) => {
  const resources = Array.from({ length: 30 }, (_, index) => pendingIn(`of-${index}`, 10)).flat()
  const { start, server, api } = await stage(t, resources)
  api.fault = () => (Math.random() < 1 / 3 ? Promise.resolve({ status: 429, text: '{}' }) : undefined)
  start({ unsettledMs: 5, fullMs: 0 })
  const keys = () => new Set(server.received.map(({ data }) => `${data.namespace}/${data.name}`)).size
  await waitFor('all', () => (keys() === 300 ? true : undefined), DEADLINE)
})
