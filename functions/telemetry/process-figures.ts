import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Logger } from 'pino'
import { LOOK_MS, watchEventLoop, type LoopFigures } from '../domain/event-loop.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import { PROGRAM_METRICS } from '../domain/telemetry/program-metrics.ts'

/** Watches the event loop and measures the process while it lives. A stall is logged, with what is `inHand`, and counted. */
export function watchProcess(inHand: () => readonly string[], log: Logger, meter: Meter): void {
  const loop = watchEventLoop(monitorEventLoopDelay, inHand, (stall) => {
    log.warn(stall, 'the event loop stood still')
    meter.record(PROGRAM_METRICS.loopStalls, 1, {})
  })
  setInterval(loop.look, LOOK_MS).unref()
  measureProcess(meter, loop.figures)
}

/** Measures the process itself, whenever its metrics are read. `loop`: how late the event loop was since the last time. */
function measureProcess(meter: Meter, loop: () => LoopFigures): void {
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
