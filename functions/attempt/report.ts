import type { ClusterEvent } from '../cluster/cluster.ts'
import type { DetailsResult } from '../domain/resource/conditions.ts'
import { Failure } from '../domain/failure.ts'
import { REASONS } from '../domain/reasons.ts'
import { isInsecure } from '../domain/repository/insecure-hosts.ts'
import { errorLogFields } from '../domain/error-log-fields.ts'
import type { Envelope } from '../domain/resource/resource.ts'
import type { Phase, Status } from '../domain/resource/stored-status.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import { FUNCTION_METRICS, OTHER_PROVIDER } from '../domain/telemetry/function-metrics.ts'
import type { EngineName } from '../git/remote.ts'
import type { Outcome } from '../domain/resource/status.ts'
import type { WrittenResult } from './write-result.ts'
import type { World } from '../world.ts'

export interface Attempted {
  /** The resource as it was claimed. */
  readonly claim: Envelope
  readonly result: Outcome | Failure
  /** By `elapsed` of the World. */
  readonly began: number
  readonly settled: WrittenResult
  /** Of the parsed resource: the repository and its host. */
  readonly target: Parsed['target']
  readonly engine: EngineUsed
}

/** The engine of a commit, `api` for a pull request, `none` where the attempt ended before it was needed. */
export type EngineUsed = EngineName | 'api' | 'none'

/**
 * Reports an attempt: metrics, its span and a log line for the operator, and, where Ready has changed, an Event for the user. Nothing
 * else reports attempts.
 */
export async function report(attempted: Attempted, world: World): Promise<void> {
  measure(attempted, world)
  endSpan(attempted, world)
  const { claim, result, began, settled, target } = attempted
  // Its repository is at a host of INSECURE_HOSTS.
  const insecure = target !== undefined && isInsecure(target.address, world.settings.insecureHosts)
  const { namespace, name, uid, generation } = claim.metadata
  const fields = {
    kind: claim.kind,
    namespace,
    name,
    uid,
    generation,
    attempt: claim.status?.attempts,
    ...(insecure ? { insecure } : {}),
    reason: result.reason,
    phase: phaseOf(settled),
    milliseconds: Math.round(world.elapsed() - began),
    ...traceFields(world),
  }
  if (result instanceof Failure) {
    world.log.info({ ...fields, message: result.message }, 'attempt failed')
    if (REASONS[result.reason].side === 'internal')
      world.log.error({ ...fields, origin: errorLogFields(result) }, 'internal error')
  } else {
    const missing = missingDetails(result)
    const details = missing === undefined ? {} : { details: missing.reason }
    world.log.info({ ...fields, ...resultFields(result), ...details }, 'attempt succeeded')
  }
  if (settled.written === undefined || isSameReady(claim, settled.written.status)) return
  await world.cluster.recordEvent(settled.written.envelope, eventOf(result))
}

function measure({ claim, result, began, settled, target, engine }: Attempted, world: World): void {
  const { kind } = claim
  const { meter } = world
  const failed = result instanceof Failure
  const provider = providerOf(target)
  meter.record(FUNCTION_METRICS.attempts, 1, { kind, reason: result.reason, provider, engine })
  const outcome = failed ? 'failed' : 'succeeded'
  meter.record(FUNCTION_METRICS.attemptDuration, (world.elapsed() - began) / 1000, { kind, outcome })
  const appliedAt = Date.parse(settled.written?.envelope.appliedAt ?? '')
  // What a follower commits later was not applied by anybody.
  if (failed || Number.isNaN(appliedAt) || claim.status?.sync?.digest !== undefined) return
  const seconds = Math.max(0, world.now().getTime() - appliedAt) / 1000
  meter.record(FUNCTION_METRICS.ready, seconds, { kind, provider })
}

function endSpan({ claim, result, settled, target, engine }: Attempted, { span }: World): void {
  const { attempts } = claim.status ?? {}
  span?.set({
    ...(attempts === undefined ? {} : { 'commitlet.attempt': attempts }),
    'commitlet.reason': result.reason,
    'commitlet.phase': phaseOf(settled),
    'commitlet.provider': providerOf(target),
    'commitlet.engine': engine,
  })
  span?.end(result instanceof Failure ? result : undefined)
}

/** As OpenTelemetry names them in logs (https://opentelemetry.io/docs/specs/otel/compatibility/logging_trace_context/). */
function traceFields({ span }: World): Readonly<Record<string, string>> {
  if (span?.context === undefined) return {}
  return { trace_id: span.context.traceId, span_id: span.context.spanId }
}

/** The software of the host, as far as it is known. */
function providerOf(target: Attempted['target']): string {
  return target?.host?.name ?? OTHER_PROVIDER
}

function phaseOf({ written }: WrittenResult): Phase | 'overtaken' {
  return written?.status.phase ?? 'overtaken'
}

/** Whether Ready is as it was before the result: a retry that fails as well is no news. A new request begins with Unknown. */
function isSameReady(claim: Envelope, result: Status): boolean {
  const [before, after] = [claim.status, result].map(
    (status) => status?.conditions?.find(({ type }) => type === 'Ready')?.status,
  )
  return before !== undefined && before === after
}

// The message of an outcome may end with a URL, so no full stop is added after it.
function eventOf(result: Outcome | Failure): ClusterEvent {
  const { reason, message } = result
  if (result instanceof Failure) return { type: 'Warning', reason, message }
  const missing = missingDetails(result)
  if (missing === undefined) return { type: 'Normal', reason, message }
  return { type: 'Warning', reason: 'DetailsNotApplied', message: `${message} (${missing.message})` }
}

function missingDetails({ details }: Outcome): DetailsResult | undefined {
  return typeof details === 'object' && details.reason === 'NotApplied' ? details : undefined
}

/** Log fields that locate the result on the remote. */
function resultFields({ commit, pullRequest }: Outcome): Readonly<Record<string, string | number>> {
  return {
    ...(commit === undefined ? {} : { sha: commit.sha, branch: commit.branch }),
    ...(pullRequest === undefined ? {} : { number: pullRequest.number, state: pullRequest.state }),
  }
}
