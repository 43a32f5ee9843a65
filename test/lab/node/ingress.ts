import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AdminAPI } from '../../harness/admin-api.ts'
import { NODE_IP } from './network.ts'
import { keyOf, type Ingress } from './objects.ts'
import type { Change } from './watch.ts'

const MERGE = { 'content-type': 'application/merge-patch+json' }
/** The Service that Knative is told to lead the function's name to. */
const GATEWAY = 'gateway.knative-serving.svc.cluster.local'

/** In place of an ingress of Knative's: looks at Host and sends to the first split. */
export function openIngress(
  api: AdminAPI,
  addressOf: (key: string) => string | undefined,
): (change: Change, ingress: Ingress) => void {
  const known = new Map<string, Ingress>()
  createServer((asked, answer) => {
    serve(known, addressOf, asked, answer)
  }).listen(80, NODE_IP)
  return (change, ingress) => {
    if (change === 'DELETED') known.delete(keyOf(ingress))
    else {
      known.set(keyOf(ingress), ingress)
      if (ingress.status?.observedGeneration !== ingress.metadata.generation) void report(api, ingress)
    }
  }
}

async function report(api: AdminAPI, { metadata }: Ingress): Promise<void> {
  const leads = { ingress: [{ domainInternal: GATEWAY }] }
  const lastTransitionTime = `${new Date().toISOString().slice(0, 19)}Z`
  const types = ['LoadBalancerReady', 'NetworkConfigured', 'Ready']
  const status = {
    observedGeneration: metadata.generation,
    publicLoadBalancer: leads,
    privateLoadBalancer: leads,
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime })),
  }
  const path = `/apis/networking.internal.knative.dev/v1alpha1/namespaces/${metadata.namespace}/ingresses`
  await api.ask('PATCH', `${path}/${metadata.name}/status`, { status }, MERGE)
}

function serve(
  known: ReadonlyMap<string, Ingress>,
  addressOf: (key: string) => string | undefined,
  asked: IncomingMessage,
  answer: ServerResponse,
): void {
  const host = (asked.headers.host ?? '').replace(/:\d+$/, '')
  const rules = [...known.values()].flatMap(({ spec }) => spec.rules)
  const paths = rules.find(({ hosts }) => hosts.includes(host))?.http.paths
  const split = paths?.find(({ headers }) => headers === undefined)?.splits[0]
  const address = split && addressOf(`${split.serviceNamespace}/${split.serviceName}`)
  if (split === undefined || address === undefined) {
    answer.writeHead(404).end()
    return
  }
  const { method, url: path, headers } = asked
  const onward = { host: address, port: split.servicePort, method, path, agent: false }
  const upstream = request({ ...onward, headers: { ...headers, ...split.appendHeaders } }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(answer)
  })
  upstream.once('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(503).end()))
  asked.pipe(upstream)
}
