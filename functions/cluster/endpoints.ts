import { isIP } from 'node:net'
import { asFailure } from '../domain/failure.ts'
import type { Failure } from '../domain/failure.ts'
import { elements, member } from '../domain/json-value.ts'
import { bodyOf } from './calls/answer.ts'
import type { ApiServer } from './api-server.ts'

/** An address and a port behind the Service of the API server. */
export interface ApiServerEndpoint {
  readonly host: string
  readonly port: number
}

/** The last known endpoints; never rejects. */
export type ReadEndpoints = () => Promise<readonly ApiServerEndpoint[]>

// The label is the one by which EndpointSlices belong to a Service (https://kubernetes.io/docs/reference/labels-annotations-taints/).
const PATH =
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes&limit=100'

/** How long an answer is used; after a failure, the next question is asked sooner. */
const REMEMBERED_MS = 60_000
const AFTER_FAILURE_MS = 10_000
/** Most endpoints that are kept: a control plane has a handful of servers. */
const MOST_ENDPOINTS = 1_000

/**
 * Reads the endpoints behind the Service `default/kubernetes`, at most once a minute. The first call waits for the answer;
 * later ones return what is known, and read it again in the background. If they cannot be read, what was known stays in
 * use, and `tell` is called with the first failure of each kind in a row.
 */
export function endpointsOf(
  server: ApiServer,
  tell: (failure: Failure) => void,
  // The clock of the machine may be set back, and what is remembered must not live longer by that.
  now: () => number = () => performance.now(),
): ReadEndpoints {
  let known: readonly ApiServerEndpoint[] | undefined
  let reading: Promise<readonly ApiServerEndpoint[]> | undefined
  let due = 0
  let told: string | undefined

  async function read(): Promise<readonly ApiServerEndpoint[]> {
    try {
      const answer = await server({ method: 'GET', path: PATH })
      known = endpointsIn(bodyOf(answer, 'EndpointSlices of the Service default/kubernetes'))
      due = now() + REMEMBERED_MS
      told = undefined
    } catch (error) {
      const failure = asFailure(error)
      due = now() + AFTER_FAILURE_MS
      if (told !== failure.reason) tell(failure)
      told = failure.reason
    }
    known ??= []
    return known
  }

  return async function readEndpoints() {
    if (now() >= due) reading ??= read().finally(() => (reading = undefined))
    return known ?? (await reading) ?? []
  }
}

function endpointsIn(list: unknown): readonly ApiServerEndpoint[] {
  const found = elements(member(list, 'items')).flatMap((slice) => {
    const addresses = elements(member(slice, 'endpoints')).flatMap((endpoint) =>
      elements(member(endpoint, 'addresses')).filter((address) => typeof address === 'string'),
    )
    const ports = elements(member(slice, 'ports'))
      .map((port) => member(port, 'port'))
      .filter((port) => typeof port === 'number')

    return addresses.flatMap((host) => ports.map((port) => ({ host, port })))
  })
  // A slice of names (addressType FQDN) has nothing that a resolved address can be compared with.
  return found.filter(({ host }) => isIP(host) !== 0).slice(0, MOST_ENDPOINTS)
}
