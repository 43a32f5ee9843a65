import { Failure } from '../domain/failure.ts'
import { FUNCTION_METRICS } from '../domain/telemetry/function-metrics.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import { NO_SPAN, type Span } from '../domain/telemetry/tracer.ts'
import type { Engine, EngineName, Remote } from './remote.ts'
import type { PendingChange } from './writer/pending-change.ts'

const { gitDuration, commitsPerPush } = FUNCTION_METRICS

type Step = 'open' | 'tip' | 'tree' | 'files' | 'write' | 'push' | 'search'

/** The engine, with each step of its sessions measured and traced, and each target told which engine it got. */
export function measureEngine(engine: Engine, name: EngineName, meter: Meter): Engine {
  async function timed<T>(session: Span, step: Step, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const span = session.child(`git ${step}`, { 'commitlet.engine': name })
    const end = (outcome: string, failure?: Failure): void => {
      meter.record(gitDuration, (performance.now() - began) / 1000, { step, engine: name, outcome })
      span.set({ 'commitlet.outcome': outcome })
      span.end(failure)
    }
    try {
      const result = await work()
      end('done')
      return result
    } catch (error) {
      if (error instanceof Failure) end('failed', error)
      else end('handed over')
      throw error
    }
  }

  return {
    async open(target) {
      target.engineChosen?.(name)
      const { span = NO_SPAN } = target
      const timedHere: Timed = (step, work) => timed(span, step, work)
      return measureRemote(await timedHere('open', () => engine.open(target)), timedHere, (commits) =>
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
    signal: remote.signal,
    readTip: (wanted) => timed('tip', () => remote.readTip(wanted)),
    readTree: (tip, paths) => timed('tree', () => remote.readTree(tip, paths)),
    readBlobs: (tip, oids, most) => timed('files', () => remote.readBlobs(tip, oids, most)),
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
    askToPush: (tip) => remote.askToPush(tip),
    findLanded: (tip, sought) => timed('search', () => remote.findLanded(tip, sought)),
    close: () => remote.close(),
  }
}

/**
 * The span of a session for these changes. A span has one parent: the first change that is traced. The spans of the others
 * and that of the session name each other.
 */
export function sessionSpan(changes: readonly PendingChange[]): Span {
  const [first, ...others] = changes.flatMap(({ span }) => (span?.recording === true ? [span] : []))
  if (first === undefined) return NO_SPAN
  const session = first.child('git session', { 'commitlet.changes': changes.length })
  for (const other of others) {
    session.link(other)
    other.link(session)
  }
  return session
}
