import pino from 'pino'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { deliverBy, type Answer } from '../../../webhook/delivery/delivery.ts'
import { SINK_LIMITS } from '../../../webhook/delivery/sink-limits.ts'
import { makeSink, type Sink } from '../../../webhook/delivery/sink.ts'
import { startSweeps } from '../../../webhook/delivery/sweep.ts'
import { dateAt } from '../cluster-store.ts'
import { listAnswer } from './constant-answers.ts'
import { LOST, type Outside, type Running } from './program.ts'
import { nextDue, within, type Time } from '../../harness/virtual-time.ts'

/** The defaults of SWEEP_INTERVAL and SWEEP_FULL_INTERVAL. */
const UNSETTLED_MS = 30_000
const FULL_MS = 300_000
const SILENT = pino({ level: 'silent' })

/** When the next sweep of each sort is due, in milliseconds from the start of its program. */
export interface SweepTimes {
  readonly unsettled: number
  readonly full: number
}

/**
 * One pod of the webhook behind admission: the sender with its retries and the sweeps are the real code, above a function
 * that is `outside`. A sweep reads all its lists at one moment. The random parts of all pauses are in the middle.
 */
export function startWebhook(outside: Outside, memory: string, time: Time): Running {
  const due: SweepTimes = JSON.parse(memory)
  const cluster = connectCluster((call) => {
    const date = dateAt(time.elapsed / 1000)
    const stored = outside.stored()
    const answer = call.path.includes('?')
      ? listAnswer(call.path, JSON.parse(stored))
      : { status: 200, text: stored }
    return Promise.resolve({ ...answer, date })
  })
  const deliver = deliverBy(async (event): Promise<Answer | Error> => {
    const answer = await outside.call('post', JSON.stringify(event.data))
    if (answer === LOST) return Object.assign(new Error('The connection broke'), { code: 'ECONNRESET' })
    return { status: Number(answer), retryAfterMs: answer === '503' ? 5_000 : 0 }
  }, SINK_LIMITS)
  const sink = makeSink(deliver, SILENT, SINK_LIMITS)
  // What is sent by a sweep does not belong to it.
  const send: Sink['send'] = (event) => within(time, '', () => sink.send(event))
  const sweeper = { cluster, sink: { ...sink, send }, log: SILENT }
  begin('unsettled', due.unsettled - UNSETTLED_MS, { unsettledMs: UNSETTLED_MS, fullMs: 0 })
  begin('full', due.full, { unsettledMs: 0, fullMs: FULL_MS })

  // A sweep that waits for its time is as one that has just begun, so much earlier.
  function begin(sweep: string, at: number, intervals: Parameters<typeof startSweeps>[1]): void {
    const now = time.elapsed
    time.elapsed = at
    within(time, sweep, () => startSweeps(sweeper, intervals))
    time.elapsed = now
  }

  return {
    take: (resource) => void sink.send(appliedEvent(JSON.parse(resource), 'an event')),
    rest(time) {
      const isBusy = nextDue(time, (label) => label === '') !== undefined
      if (isBusy) return undefined
      const [unsettled, full] = ['unsettled', 'full'].map((sweep) =>
        nextDue(time, (label) => label === sweep),
      )
      return JSON.stringify({ unsettled, full })
    },
  }
}
