import { NO_METER } from '../domain/telemetry/meter.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import { codeLabel, PROGRAM_METRICS } from '../domain/telemetry/program-metrics.ts'
import type { ApiCall, ApiServer } from './api-server.ts'

/** The last segments of a path, or the ones before a name, that are resources of their own in the metrics. */
const RESOURCES =
  /\/(gitcommits|pullrequests|secrets|subjectaccessreviews|events|endpointslices|leases)(?:\/[^/?]+(\/status)?)?(?:\?|$)/
/** A group and version without anything behind it. */
const DISCOVERY = /^\/(?:api\/[^/?]+|apis\/[^/?]+\/[^/?]+)$/

/** Calls the API server, and measures each call. `elapsed`: milliseconds of a clock that is never set. */
export function measureServer(server: ApiServer, meter: Meter, elapsed: () => number): ApiServer {
  // The length of a body is known only after it was written.
  if (meter === NO_METER) return server
  const { kubernetesDuration, kubernetesBytes } = PROGRAM_METRICS
  return async function call(request) {
    const began = elapsed()
    const record = (status: number | undefined): void =>
      meter.record(kubernetesDuration, (elapsed() - began) / 1000, {
        method: request.method,
        resource: resourceOf(request),
        code: codeLabel(status),
      })
    try {
      const answer = await server(counting(request, meter))
      // A watch takes as long as it is asked to, and its lines are counted as they arrive.
      if (request.lines !== undefined) return answer
      record(answer.status)
      // Characters: to count the bytes of an answer of 32 MiB would hold the event loop.
      meter.record(kubernetesBytes, answer.text.length, { direction: 'received' })
      return answer
    } catch (error) {
      record(undefined)
      throw error
    } finally {
      meter.record(kubernetesBytes, bodyLength(request), { direction: 'sent' })
    }
  }
}

function counting(request: ApiCall, meter: Meter): ApiCall {
  const { lines } = request
  if (lines === undefined) return request
  function take(line: string): void {
    meter.record(PROGRAM_METRICS.kubernetesBytes, line.length, { direction: 'received' })
    lines?.take(line)
  }
  return { ...request, lines: { ...lines, take } }
}

/** Our own kinds by name, others together: who applies a resource may name any kind. */
export function resourceOf({ path }: Pick<ApiCall, 'path'>): string {
  const [, resource, subresource = ''] = RESOURCES.exec(path) ?? []
  if (resource !== undefined) return `${resource}${subresource}`
  return DISCOVERY.test(path) ? 'discovery' : 'other'
}

function bodyLength({ body }: ApiCall): number {
  return body === undefined ? 0 : JSON.stringify(body).length
}
