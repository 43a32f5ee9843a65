import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { makeAuthority } from '../harness/certificates.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { until } from '../harness/rights.ts'

/** The group that the aggregated API serves. */
export const GROUP = 'things.example.com'

/** What an aggregated API answers; a test sets it. */
export interface Aggregated {
  /** For its objects. */
  answer: unknown
  /** The header Date of all its answers; default: the time. */
  date?: string
}

/** An aggregated API that serves `things.example.com/v1`, kind Thing, and answers with what a test sets. */
export async function aggregate(t: Test, plane: ControlPlane): Promise<Aggregated> {
  const aggregated: Aggregated = { answer: {} }
  const host = 'things.commitlet-system.svc'
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: [host] })
  const thing = { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get'] }
  const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${GROUP}/v1`, resources: [thing] }
  const server = createServer({ cert: certPEM, key: keyPEM }, (request, response) => {
    const isObject = request.url?.includes('/things/') === true
    const { date } = aggregated
    response.writeHead(200, { 'content-type': 'application/json', ...(date === undefined ? {} : { date }) })
    response.end(JSON.stringify(isObject ? aggregated.answer : list))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const service = { name: 'things', namespace: 'commitlet-system' }
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: service,
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `v1.${GROUP}` },
      spec: {
        group: GROUP,
        version: 'v1',
        service: { ...service, port },
        caBundle: Buffer.from(authority.certPEM).toString('base64'),
        groupPriorityMinimum: 1000,
        versionPriority: 10,
      },
    },
  ]
  await plane.apply(objects.map((object) => `${JSON.stringify(object)}\n`).join(''))
  const path = ['get', '--raw', `/apis/${GROUP}/v1`]
  await until('aggregated API', () => plane.kubectl(path, { allowFailure: true }), /APIResourceList/)
  return aggregated
}
