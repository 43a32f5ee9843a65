import type { Sweeper } from '../../functions/cluster/sweep/announce.ts'
import type { Sweep } from '../../functions/cluster/sweep/due.ts'
import type { RoundResult } from '../../functions/cluster/sweep/round.ts'
import { KINDS, PLURALS } from '../../functions/domain/resource/api-names.ts'
import type { Meter } from '../../functions/domain/telemetry/meter.ts'
import { WEBHOOK_METRICS } from '../metrics.ts'

/** A round that has ended: its time in milliseconds, and the API server's since 1970. */
export interface Measured {
  readonly sweep: Sweep
  readonly result: RoundResult
  readonly tookMs: number
  readonly now: number
}

/** Measures a round. */
export function measureRound(meter: Meter, { sweep, result, tookMs, now }: Measured): void {
  const { sent, due, dueSince, listed, failed } = result
  meter.record(WEBHOOK_METRICS.sweepDuration, tookMs / 1000, { sweep })
  for (const kind of KINDS) {
    meter.record(WEBHOOK_METRICS.sweepEvents, sent[kind], { sweep, kind })
    meter.record(WEBHOOK_METRICS.due, due[kind], { sweep, kind })
    meter.record(WEBHOOK_METRICS.sweepFailures, failed.filter((one) => one === kind).length, { sweep, kind })
  }
  if (failed.length === 0) meter.record(WEBHOOK_METRICS.sweepFinished, now / 1000, { sweep })
  if (sweep !== 'unsettled') return
  meter.record(WEBHOOK_METRICS.overdue, Math.max(0, now - dueSince) / 1000, {})
  for (const { scope, rows } of listed)
    meter.record(WEBHOOK_METRICS.unsettled, rows, { kind: scope.kind, phase: scope.phase ?? 'any' })
}

/** Says what a round has sent. */
export function logRound({ log }: Pick<Sweeper, 'log'>, sweep: Sweep, { sent }: RoundResult): void {
  for (const kind of KINDS) {
    if (sweep === 'followers' && sent[kind] === 0) continue
    const level = sent[kind] > 0 ? 'info' : 'debug'
    log[level]({ sweep, resources: PLURALS[kind], events: sent[kind] }, 'swept')
  }
}

/** What this replica has found is not what is there now: another one has the turn. */
export function forgetFigures(meter: Meter, sweep: Sweep): void {
  for (const kind of KINDS) {
    meter.record(WEBHOOK_METRICS.due, 0, { sweep, kind })
    if (sweep !== 'unsettled') continue
    for (const phase of ['Progressing', 'Retrying', 'Pending'])
      meter.record(WEBHOOK_METRICS.unsettled, 0, { kind, phase })
  }
  if (sweep === 'unsettled') meter.record(WEBHOOK_METRICS.overdue, 0, {})
}
