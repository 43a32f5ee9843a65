import { connect } from 'node:http2'
import type { Test } from 'tap'
import type { ControlPlane } from '../harness/control-plane.ts'
import { waitFor } from '../harness/wait.ts'

const CONNECTIONS = 10
/** Together more than the priority level of all service accounts has. */
const OF_CONNECTION = 40
/** Whoever is authenticated may call this. */
const PATH = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const LEVEL = 'workload-low'
/** Those of manifests/priority.yaml. */
const OWN = ['commitlet', 'commitlet-other-groups'] as const
/** Seats that it borrows after some seconds would need more requests, and others get some of them first. */
const NONE_BORROWED = {
  metadata: { annotations: { 'apf.kubernetes.io/autoupdate-spec': 'false' } },
  spec: { limited: { borrowingLimitPercent: 0 } },
}
const MERGE = { 'content-type': 'application/merge-patch+json' }
const DEADLINE_MS = 60_000

/**
 * Begins so many requests as a service account without rights, and does not end them, that others of the same priority
 * level wait for a seat. The end of the test breaks them.
 */
export async function holdSeats(
  t: Pick<Test, 'teardown'>,
  plane: ControlPlane,
  namespace: string,
): Promise<void> {
  const levels = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations'
  await plane.api.need('PATCH', `${levels}/${LEVEL}`, NONE_BORROWED, MERGE)
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await plane.api.need('POST', accounts, { metadata: { name: 'app' } })
  const answer = await plane.api.need('POST', `${accounts}/app/token`, { spec: {} })
  const { token } = (answer as { readonly status: { readonly token: string } }).status
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (let i = 0; i < CONNECTIONS; i += 1) {
    const session = connect(plane.url, { ca: plane.caPEM })
    t.teardown(() => session.destroy())
    session.on('error', () => undefined)
    for (let j = 0; j < OF_CONNECTION; j += 1)
      session
        .request({ ':method': 'POST', ':path': PATH, ...headers })
        .on('error', () => undefined)
        .resume()
        .write('{')
  }
  const isFull = async () => ((await gauge(plane, 'current_inqueue_requests', LEVEL)) > 0 ? true : undefined)
  await waitFor('request that waits for a seat', isFull, DEADLINE_MS)
}

/** Waits until the API server knows the seats that manifests/priority.yaml gives both parts. */
export async function untilOwnSeats(plane: ControlPlane): Promise<void> {
  const isKnown = async () => {
    const seats = await Promise.all(OWN.map((level) => gauge(plane, 'nominal_limit_seats', level)))
    return seats.every((count) => count > 0) ? true : undefined
  }
  await waitFor('seats of both parts', isKnown, DEADLINE_MS)
}

async function gauge(plane: ControlPlane, name: string, level: string): Promise<number> {
  const { body } = await plane.api.ask('GET', '/metrics')
  const line = new RegExp(
    `^apiserver_flowcontrol_${name}\\{[^}]*priority_level="${level}"[^}]*\\} (\\S+)$`,
    'gm',
  )
  return [...String(body).matchAll(line)].reduce((sum, [, value]) => sum + Number(value), 0)
}
