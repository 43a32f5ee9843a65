import { writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { keyOf, type Endpoints, type Service } from './objects.ts'
import { NODE_IP, ownAddress } from './network.ts'
import type { Change } from './watch.ts'

/** In place of kube-proxy and of the cluster's DNS: each cluster IP forwards TCP, and names are in a file of hosts. */
export interface ServiceProxy {
  readonly onService: (change: Change, service: Service) => void
  readonly onEndpoints: (change: Change, endpoints: Endpoints) => void
  /** The cluster IP of a Service. */
  readonly addressOf: (key: string) => string | undefined
}

interface Backend {
  readonly host: string
  readonly port: number
}

/** `apiServer`: where the Service `kubernetes` leads; `names`: further lines of the file. */
export function openServiceProxy(hosts: string, apiServer: Backend, names: readonly string[]): ServiceProxy {
  const services = new Map<string, Service>()
  const endpoints = new Map<string, Endpoints>()
  const listening = new Map<string, Server>()
  let turn = 0

  function backendsOf(key: string, name = ''): readonly Backend[] {
    if (key === 'default/kubernetes') return [apiServer]
    return (endpoints.get(key)?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
      const port = ports.find((one) => (one.name ?? '') === name)
      return port === undefined ? [] : addresses.map(({ ip }) => ({ host: ip, port: port.port }))
    })
  }

  async function listen(key: string, address: string): Promise<void> {
    await ownAddress(address)
    for (const { name, port } of services.get(key)?.spec.ports ?? []) {
      const place = `${address}:${port}`
      if (listening.has(place)) continue
      const server = forwarder(() => {
        const backends = backendsOf(key, name)
        turn += 1
        return backends[turn % backends.length]
      })
      listening.set(place, server.listen(port, address))
    }
  }

  function writeNames(): void {
    const lines = [...services.values()].flatMap(({ metadata, spec }) => {
      const address = spec.type === 'ExternalName' ? NODE_IP : spec.clusterIP
      const name = `${metadata.name}.${metadata.namespace}.svc`
      return address === undefined || address === 'None' ? [] : [`${address} ${name}.cluster.local ${name}`]
    })
    // In place: it is mounted into every pod.
    writeFileSync(hosts, ['127.0.0.1 localhost', ...names, ...lines, ''].join('\n'))
  }

  writeNames()
  return {
    onService(change, service) {
      const { clusterIP = 'None' } = service.spec
      if (change === 'DELETED') {
        services.delete(keyOf(service))
        for (const [place, server] of listening) {
          if (!place.startsWith(`${clusterIP}:`)) continue
          server.close()
          listening.delete(place)
        }
      } else {
        services.set(keyOf(service), service)
        if (!['None', ''].includes(clusterIP)) void listen(keyOf(service), clusterIP)
      }
      writeNames()
    },
    onEndpoints(change, changed) {
      if (change === 'DELETED') endpoints.delete(keyOf(changed))
      else endpoints.set(keyOf(changed), changed)
    },
    addressOf: (key) => services.get(key)?.spec.clusterIP,
  }
}

/** A TCP server that leads each connection to where `choose` says. */
export function forwarder(choose: () => Backend | undefined): Server {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const backend = choose()
    if (backend === undefined) {
      client.destroy()
      return
    }
    const upstream = connect({ ...backend, allowHalfOpen: true })
    client.pipe(upstream).pipe(client)
    upstream.once('error', () => client.destroy())
    client.once('error', () => upstream.destroy())
  })
  return server
}
