import { request, type RequestOptions } from 'node:http'
import { request as requestTLS } from 'node:https'
import { connect } from 'node:net'
import type { Container, Probe } from './objects.ts'

/** Whether the probe of this container succeeds now. */
export function succeeds(probe: Probe, container: Container, address: string): Promise<boolean> {
  const timeout = (probe.timeoutSeconds ?? 1) * 1000
  const port = numberOf(probe.httpGet?.port ?? probe.tcpSocket?.port, container)
  if (probe.httpGet === undefined) return connects(address, port, timeout)
  const { path = '/', scheme = 'HTTP', httpHeaders = [] } = probe.httpGet
  const given = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]))
  // Knative's queue-proxy knows a kubelet by this; requests of others count as traffic.
  const headers = { 'user-agent': 'kube-probe/1.36', ...given }
  const options = { host: address, port, path, timeout, headers, agent: false }
  return answersWell(options, scheme === 'HTTPS')
}

function answersWell(options: RequestOptions, encrypted: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    // As a kubelet does, which verifies no certificate.
    const asked = encrypted ? requestTLS({ ...options, rejectUnauthorized: false }) : request(options)
    asked.once('response', (response) => {
      response.resume()
      const { statusCode = 0 } = response
      resolve(statusCode >= 200 && statusCode < 400)
    })
    asked
      .once('timeout', () => asked.destroy())
      .once('error', () => resolve(false))
      .end()
  })
}

function connects(host: string, port: number, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout })
    const end = (good: boolean) => (): void => {
      socket.destroy()
      resolve(good)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}

function numberOf(port: number | string | undefined, { ports = [] }: Container): number {
  if (typeof port === 'number') return port
  return ports.find(({ name }) => name === port)?.containerPort ?? 0
}
