import { setTimeout as pause } from 'node:timers/promises'
import type { Program } from '../../test/harness/programs.ts'
import { memoryOf, treeOf } from '../../test/harness/process-memory.ts'
import { probe } from './probe.ts'
import { scheduled } from './scheduled.ts'
import type { Scheduled } from './scheduled.ts'

const LOOK_MS = 500
const PROBE_MS = 250

/** What was seen of one program since the last call of `take`. */
export interface Seen {
  /** Milliseconds of the liveness probes; Infinity for one without an answer. */
  readonly probes: readonly number[]
  /** Of the process and all below it; shared pages count once, as in a container. */
  readonly peakMiB: number
  /** Of its main thread. */
  readonly scheduled: Scheduled
  /** How often it ended, by cause. */
  readonly crashes: number
  readonly outOfMemory: number
}

/** A program that is observed and started again as in a pod. */
export interface Kept {
  readonly take: () => Seen
  /** Ends it immediately, and all observation. */
  readonly stop: () => Promise<void>
}

/** A program, how to start it again on the same port, and the memory limit of its container in MiB. */
export interface Container {
  readonly program: Program
  readonly start: () => Promise<Program>
  readonly limitMiB: number
}

/** Probes the program four times a second, measures its process tree twice a second, ends it above its limit, and starts it again. */
export function keepRunning({ program, start, limitMiB }: Container): Kept {
  const stop = new AbortController()
  let current = program
  let seen = nothing()
  let before = scheduled(program.pid)
  const pending = new Set<Promise<void>>()

  async function watchProcess(): Promise<void> {
    while (!stop.signal.aborted) {
      const memory = await memoryOf(await treeOf(current.pid))
      seen.peakMiB = Math.max(seen.peakMiB, memory)
      const isOver = memory > limitMiB
      if (isOver) seen.outOfMemory += 1
      if (memory === 0) seen.crashes += 1
      if (isOver) await current.kill()
      if (isOver || memory === 0) current = await start().catch(() => current)
      await pause(LOOK_MS)
    }
  }

  async function probeOften(): Promise<void> {
    while (!stop.signal.aborted) {
      const { probes } = seen
      const probing = probe(`${current.url}/health/liveness`, stop.signal).then((took) => {
        if (!stop.signal.aborted) probes.push(took)
      })
      pending.add(probing)
      void probing.finally(() => pending.delete(probing))
      await pause(PROBE_MS)
    }
  }

  const watching = [watchProcess(), probeOften()]
  return {
    take() {
      const [taken, since, now] = [seen, before, scheduled(current.pid)]
      seen = nothing()
      before = now
      const [runs, waits] = [now.runs - since.runs, now.waits - since.waits]
      return { ...taken, scheduled: { runs, waits } }
    },
    async stop() {
      stop.abort()
      await current.kill()
      await Promise.all([...watching, ...pending])
      await current.kill()
    },
  }
}

function nothing() {
  const probes: number[] = []
  return { probes, peakMiB: 0, crashes: 0, outOfMemory: 0 }
}
