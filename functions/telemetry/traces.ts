import type { Logger } from 'pino'
import type { Meter } from '../domain/telemetry/meter.ts'
import type { Tracer } from '../domain/telemetry/tracer.ts'
import type { CollectorRoute } from './collector.ts'
import type { TraceSettings } from './trace-settings.ts'
import { openTracer } from './tracer.ts'

/** Where a program begins its spans, and what becomes of them. */
export interface Traces {
  readonly tracer: Tracer
  /** Sends what is left, for a few seconds at most. */
  readonly close: () => Promise<void>
}

export interface TraceParts {
  readonly meter: Meter
  readonly log: Logger
  /** How the collector is reached. */
  readonly route: CollectorRoute
}

/** Without settings spans have ids for the log, nothing is sent, and nothing of what would send them is loaded. */
export async function openTraces(
  settings: TraceSettings | undefined,
  { meter, log, route }: TraceParts,
): Promise<Traces> {
  if (settings === undefined) return { tracer: openTracer(), close: () => Promise.resolve() }
  const [{ openCollector }, { openSpanQueue }] = await Promise.all([
    import('./collector.ts'),
    import('./span-queue.ts'),
  ])
  const changed = (cause: string | undefined): void => {
    if (cause === undefined) log.info('traces are sent again')
    else log.warn({ cause }, 'traces cannot be sent; nothing else waits for that')
  }
  const queue = openSpanQueue({ send: openCollector(settings, route), meter, changed })
  return {
    tracer: openTracer({ sampler: settings.sampler, ended: queue.add }),
    close: queue.close,
  }
}
