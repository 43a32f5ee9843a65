import type { ChildProcess } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { AdminAPI } from '../../harness/admin-api.ts'
import { startContainer } from './container.ts'
import { endContainer } from './endings.ts'
import { environmentOf } from './environment.ts'
import type { Images } from './images.ts'
import { makePodNetwork, NODE_IP, type PodNetwork } from './network.ts'
import type { Container, Pod } from './objects.ts'
import { succeeds } from './probes.ts'
import { makeVolumes } from './volumes.ts'
import type { Change } from './watch.ts'

const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const RETRY_MS = 1_000
/** How soon a container that is not ready is asked again. */
const UNREADY_MS = 100
/** What a kubelet adds to a grace period that is over, for the programs to be killed. */
const MARGIN_MS = 2_000

/** What pods need of their node. */
export interface Site {
  readonly api: AdminAPI
  readonly caPEM: string
  readonly folder: string
  readonly hosts: string
  readonly images: Images
}

interface Running {
  readonly pod: Pod
  readonly folder: string
  network?: PodNetwork
  readonly programs: Map<string, ChildProcess>
  readonly restarts: Map<string, number>
  ready: boolean
  stopping: boolean
}

/** In place of a scheduler and a kubelet: a pod is a network namespace with a process for each container. */
export function openKubelet(site: Site): (change: Change, pod: Pod) => void {
  const pods = new Map<string, Running>()
  return (change, pod) => {
    const { uid, deletionTimestamp } = pod.metadata
    const running = pods.get(uid)
    if (running === undefined) {
      if (change === 'DELETED' || deletionTimestamp !== undefined) return
      if (pod.spec.nodeName === undefined) {
        void bind(site, pod)
        return
      }
      const begun = beginningOf(site, pod)
      pods.set(uid, begun)
      void run(site, begun)
    } else if (change === 'DELETED' || deletionTimestamp !== undefined) {
      const grace = change === 'DELETED' ? 0 : (pod.metadata.deletionGracePeriodSeconds ?? 30)
      void stop(site, running, grace).then(() => pods.delete(uid))
    }
  }
}

// It changes during waits.
function isStopping({ stopping }: Running): boolean {
  return stopping
}

function beginningOf({ folder }: Site, pod: Pod): Running {
  const state = { ready: false, stopping: false }
  return { pod, folder: join(folder, pod.metadata.uid), programs: new Map(), restarts: new Map(), ...state }
}

async function bind({ api }: Site, pod: Pod): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: 'local' }
  await api.ask('POST', `${pathOf(pod)}/binding`, { metadata: { name: pod.metadata.name }, target })
}

function pathOf({ metadata }: Pod): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`
}

async function run(site: Site, running: Running): Promise<void> {
  const { pod, folder } = running
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const network = await makePodNetwork()
  running.network = network
  // As a kubelet does: what is missing may come later.
  while (!running.stopping) {
    const started = await startAll(site, running, network).then(
      () => true,
      () => false,
    )
    if (started) break
    await setTimeout(RETRY_MS)
  }
  await report(site, running, false)
  for (const container of pod.spec.containers) void keepAlive(running, container)
  await keepReady(site, running, network.address)
}

async function startAll(site: Site, running: Running, network: PodNetwork): Promise<void> {
  const { pod, folder } = running
  const volumes = await makeVolumes(site.api, pod, { folder, caPEM: site.caPEM })
  for (const container of pod.spec.containers) {
    const env = await environmentOf(site.api, pod, container, network.address)
    const start = async (): Promise<void> => {
      const given = { pod, container, network: network.name, env, folder, volumes }
      const child = await startContainer({ ...given, hosts: site.hosts, images: site.images })
      running.programs.set(container.name, child)
      child.once('exit', () => {
        if (running.stopping) return
        running.restarts.set(container.name, (running.restarts.get(container.name) ?? 0) + 1)
        void setTimeout(RETRY_MS).then(() => (running.stopping ? undefined : start()))
      })
    }
    await start()
  }
}

/** Kills a container whose liveness probe fails; it is then started again. */
async function keepAlive(running: Running, container: Container): Promise<void> {
  const probe = container.livenessProbe
  if (probe === undefined) return
  await setTimeout((probe.initialDelaySeconds ?? 0) * 1000)
  let failed = 0
  while (!running.stopping) {
    await setTimeout((probe.periodSeconds ?? 10) * 1000)
    const good = await succeeds(probe, container, running.network?.address ?? '')
    failed = good ? 0 : failed + 1
    if (failed < (probe.failureThreshold ?? 3) || isStopping(running)) continue
    running.programs.get(container.name)?.kill('SIGKILL')
    failed = 0
  }
}

async function keepReady(site: Site, running: Running, address: string): Promise<void> {
  const { containers } = running.pod.spec
  while (!running.stopping) {
    const asked = containers.map(async (container) =>
      container.readinessProbe === undefined ? true : succeeds(container.readinessProbe, container, address),
    )
    const ready = (await Promise.all(asked)).every(Boolean)
    if (ready !== running.ready && !isStopping(running)) await report(site, running, ready)
    running.ready = ready
    const periods = containers.map(({ readinessProbe }) => (readinessProbe?.periodSeconds ?? 10) * 1000)
    await setTimeout(ready ? Math.min(...periods) : UNREADY_MS)
  }
}

async function report({ api }: Site, running: Running, ready: boolean): Promise<void> {
  const { pod, network, restarts } = running
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  const types = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready']
  const status = {
    phase: 'Running',
    podIP: network?.address,
    podIPs: [{ ip: network?.address }],
    hostIP: NODE_IP,
    startTime: now,
    conditions: types.map((type, at) => ({
      type,
      status: at < 2 || ready ? 'True' : 'False',
      lastTransitionTime: now,
    })),
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      ready,
      started: true,
      restartCount: restarts.get(name) ?? 0,
      state: { running: { startedAt: now } },
    })),
  }
  await api.ask('PATCH', `${pathOf(pod)}/status`, { status }, STRATEGIC)
}

async function stop(site: Site, running: Running, graceSeconds: number): Promise<void> {
  if (running.stopping) return
  running.stopping = true
  const { pod, programs, network, folder } = running
  const grace = graceSeconds * 1000
  const ends = pod.spec.containers.map((container) =>
    endContainer(running.programs.get(container.name), container.lifecycle?.preStop, {
      address: network?.address ?? '',
      grace,
    }),
  )
  await Promise.race([Promise.all(ends), setTimeout(grace + MARGIN_MS)])
  for (const program of programs.values()) program.kill('SIGKILL')
  await network?.remove()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined)
  // Not in a body: Node does not frame that of a DELETE.
  await site.api.ask('DELETE', `${pathOf(pod)}?gracePeriodSeconds=0`)
}
