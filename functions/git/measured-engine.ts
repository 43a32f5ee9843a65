import { Failure } from '../domain/failure.ts'
import { FUNCTION_METRICS } from '../domain/telemetry/function-metrics.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import type { Engine, EngineName, Remote } from './remote.ts'

const { gitDuration, commitsPerPush } = FUNCTION_METRICS

type Step = 'open' | 'tip' | 'tree' | 'write' | 'push' | 'search'

/** The engine, with each step of its sessions measured, and each target told which engine it got. */
export function measureEngine(engine: Engine, name: EngineName, meter: Meter): Engine {
  async function timed<T>(step: Step, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const record = (outcome: string): void =>
      meter.record(gitDuration, (performance.now() - began) / 1000, { step, engine: name, outcome })
    try {
      const result = await work()
      record('done')
      return result
    } catch (error) {
      record(error instanceof Failure ? 'failed' : 'handed over')
      throw error
    }
  }

  return {
    async open(target) {
      target.engineChosen?.(name)
      return measureRemote(await timed('open', () => engine.open(target)), timed, (commits) =>
        meter.record(commitsPerPush, commits, { engine: name }),
      )
    },
    close: () => engine.close(),
  }
}

type Timed = <T>(step: Step, work: () => Promise<T>) => Promise<T>

function measureRemote(remote: Remote, timed: Timed, landed: (commits: number) => void): Remote {
  let written: readonly string[] = []
  return {
    url: remote.url,
    readTip: (wanted) => timed('tip', () => remote.readTip(wanted)),
    readTree: (tip, paths) => timed('tree', () => remote.readTree(tip, paths)),
    async writeCommits(tip, commits) {
      written = await timed('write', () => remote.writeCommits(tip, commits))
      return written
    },
    async push(tip, head, remaining) {
      const pushed = await timed('push', () => remote.push(tip, head, remaining))
      // A push that only makes a branch has no commits of its own.
      if (pushed.kind === 'landed' && head === written.at(-1)) landed(written.length)
      return pushed
    },
    findLanded: (tip, sought) => timed('search', () => remote.findLanded(tip, sought)),
    close: () => remote.close(),
  }
}
