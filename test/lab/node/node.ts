import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControlPlane } from '../../harness/control-plane.ts'
import type { Images } from './images.ts'
import { openIngress } from './ingress.ts'
import { openKubelet } from './kubelet.ts'
import { makeBridge } from './network.ts'
import { openServiceProxy } from './cluster-ips.ts'
import { watch } from './watch.ts'

/** The file of names in the node's folder: that of its pods, in place of DNS. */
export const HOSTS = 'hosts'

/** What the node is made of. */
export interface NodeOptions {
  readonly folder: string
  readonly images: Images
  /** Lines of /etc/hosts beside those of the Services. */
  readonly names: readonly string[]
}

/** Starts what stands for a node, for as long as this process runs. */
export async function startNode(plane: ControlPlane, options: NodeOptions): Promise<void> {
  const { folder, images, names } = options
  const pods = join(folder, 'pods')
  const hosts = join(folder, HOSTS)
  await mkdir(pods, { recursive: true, mode: 0o755 })
  await makeBridge()
  await plane.api.need('POST', '/api/v1/nodes', { metadata: { name: 'local' } })
  const { port } = new URL(plane.url)
  const proxy = openServiceProxy(hosts, { host: '127.0.0.1', port: Number(port) }, names)
  const ingress = openIngress(plane.api, proxy.addressOf)
  const kubelet = openKubelet({ api: plane.api, caPEM: plane.caPEM, folder: pods, hosts, images })
  void watch(plane, '/api/v1/services', proxy.onService)
  void watch(plane, '/api/v1/endpoints', proxy.onEndpoints)
  void watch(plane, '/api/v1/pods', kubelet)
  void watch(plane, '/apis/networking.internal.knative.dev/v1alpha1/ingresses', ingress)
}
