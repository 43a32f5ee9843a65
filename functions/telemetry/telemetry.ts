import type { Logger } from 'pino'
import { errorLogFields } from '../domain/error-log-fields.ts'
import { NO_METER } from '../domain/telemetry/meter.ts'
import type { Meter, Metric } from '../domain/telemetry/meter.ts'
import { serveMetrics } from './metrics-server.ts'
import { openPrometheus } from './prometheus.ts'

/** What a program measures, and who may read it. */
export interface Telemetry {
  readonly meter: Meter
  /** Serves the metrics, if they have a port. A port that cannot be used is logged: nothing else depends on it. */
  readonly listen: (log: Logger) => Promise<void>
  readonly close: () => Promise<void>
}

/** Without METRICS_PORT nothing is measured, and the library is not loaded. */
export function openTelemetry(
  port: number | undefined,
  metrics: Readonly<Record<string, Metric>>,
): Telemetry {
  if (port === undefined)
    return { meter: NO_METER, listen: () => Promise.resolve(), close: () => Promise.resolve() }
  const prometheus = openPrometheus(Object.values(metrics))
  let close = (): Promise<void> => Promise.resolve()
  return {
    meter: prometheus.meter,
    async listen(log) {
      try {
        const server = await serveMetrics(prometheus, port)
        close = server.close
        log.info({ metricsPort: server.port }, 'metrics are served')
      } catch (error) {
        log.error({ origin: errorLogFields(error) }, 'METRICS_PORT cannot be used; metrics are not served')
      }
    },
    close: () => close(),
  }
}
