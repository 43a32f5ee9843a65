import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import type { Meter, Metric, Sample } from '../../functions/domain/telemetry/meter.ts'
import { resourceKey } from '../../functions/domain/resource/resource.ts'
import { WEBHOOK_METRICS } from '../metrics.ts'

/** Measures what becomes of the events of a sink. */
export interface SinkMeter {
  /** The event waits now, perhaps in the place of an older one of its resource. */
  readonly added: (event: AppliedEvent) => void
  readonly dropped: (event: AppliedEvent) => void
  /** The event is sent now. The result is called when that has ended. */
  readonly sending: (event: AppliedEvent) => (outcome: 'delivered' | 'failed') => void
}

interface Waiting {
  readonly since: number
  readonly bytes: number
}

/** Remembers as many events as wait. `open`: how many were sent and have no answer. */
export function measureSink(meter: Meter, open: () => number): SinkMeter {
  // In the order of their coming: the first has waited longest.
  const waiting = new Map<string, Waiting>()
  let bytes = 0
  for (const outcome of ['delivered', 'failed', 'dropped'])
    meter.record(WEBHOOK_METRICS.events, 0, { outcome })
  const of = (value: number): readonly [Sample<Metric & { readonly labels: readonly [] }>] => [
    { labels: {}, value },
  ]
  meter.follow(WEBHOOK_METRICS.waitingEvents, () => of(waiting.size))
  meter.follow(WEBHOOK_METRICS.waitingBytes, () => of(bytes))
  meter.follow(WEBHOOK_METRICS.openEvents, () => of(open()))
  meter.follow(WEBHOOK_METRICS.waitingAge, () => {
    const [first] = waiting.values()
    return of(first === undefined ? 0 : (performance.now() - first.since) / 1000)
  })

  /** Since when it has waited, by performance.now(). */
  function remove(event: AppliedEvent): number {
    const key = resourceKey(event.data)
    const known = waiting.get(key)
    waiting.delete(key)
    bytes -= known?.bytes ?? 0
    return known?.since ?? performance.now()
  }

  return {
    added(event) {
      const key = resourceKey(event.data)
      const before = waiting.get(key)
      const now = { since: before?.since ?? performance.now(), bytes: JSON.stringify(event).length }
      waiting.set(key, now)
      bytes += now.bytes - (before?.bytes ?? 0)
    },
    dropped(event) {
      remove(event)
      meter.record(WEBHOOK_METRICS.events, 1, { outcome: 'dropped' })
    },
    sending(event) {
      const since = remove(event)
      return (outcome) => {
        meter.record(WEBHOOK_METRICS.events, 1, { outcome })
        if (outcome === 'failed') return
        const seconds = (performance.now() - since) / 1000
        meter.record(WEBHOOK_METRICS.deliveryDuration, seconds, { kind: event.data.kind })
      }
    },
  }
}
