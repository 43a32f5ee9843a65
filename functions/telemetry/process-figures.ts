import { type LoopFigures } from '../domain/event-loop.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import { PROGRAM_METRICS } from '../domain/telemetry/program-metrics.ts'

/** Measures the process itself, whenever its metrics are read. `loop`: how late the event loop was since the last time. */
export function measureProcess(meter: Meter, loop: () => LoopFigures): void {
  const { loopDelay, cpu, memory, started } = PROGRAM_METRICS
  meter.record(started, Math.round(Date.now() / 1000 - process.uptime()), {})
  meter.record(PROGRAM_METRICS.loopStalls, 0, {})
  meter.follow(loopDelay, () => {
    const { mean, p99, max } = loop()
    return Object.entries({ mean, p99, max }).map(([statistic, milliseconds]) => ({
      labels: { statistic },
      value: milliseconds / 1000,
    }))
  })
  meter.follow(cpu, () => {
    const { user, system } = process.cpuUsage()
    return [{ labels: {}, value: (user + system) / 1e6 }]
  })
  meter.follow(memory, () => [{ labels: {}, value: process.memoryUsage.rss() }])
}
