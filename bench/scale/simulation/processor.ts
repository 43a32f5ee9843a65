import type { Clock } from './clock.ts'

/** A program's access to the cores of a machine. */
export interface Program {
  /** Calls `done` when this many milliseconds of CPU have been spent. */
  readonly run: (cpuMs: number, done: () => void) => void
  /** Milliseconds of CPU spent so far. */
  readonly used: () => number
}

/** A machine with cores that its programs share. */
export interface Machine {
  /** `shares`: how often a round of the cores comes to the program; as many as it has busy threads. */
  readonly addProgram: (shares?: number) => Program
}

/** A core does no more than this for a program before it looks at the next. */
const SLICE_MS = 5

interface Job {
  leftMs: number
  readonly done: () => void
}

interface Taken {
  readonly job: Job
  readonly queue: Job[]
}

/**
 * A free core takes a slice of work from each program in turn, and from the jobs of one program in turn. With Infinity
 * cores nothing waits.
 */
export function makeMachine(clock: Clock, cores: number): Machine {
  const queues: Job[][] = []
  const sliceMs = cores === Infinity ? Infinity : SLICE_MS
  let free = cores
  let turn = 0

  function serve(): void {
    while (free > 0) {
      const job = nextJob()
      if (job === undefined) return
      free -= 1
      work(job)
    }
  }

  function work({ job, queue }: Taken): void {
    const slice = Math.min(sliceMs, job.leftMs)
    clock.after(slice, () => {
      free += 1
      job.leftMs -= slice
      if (job.leftMs > 0) queue.push(job)
      else job.done()
      serve()
    })
  }

  function nextJob(): Taken | undefined {
    for (let tried = 0; tried < queues.length; tried += 1) {
      turn = (turn + 1) % queues.length
      const queue = queues[turn]
      const job = queue?.shift()
      if (queue !== undefined && job !== undefined) return { job, queue }
    }
    return undefined
  }

  return {
    addProgram(shares = 1) {
      const queue: Job[] = []
      let used = 0
      queues.push(...Array.from({ length: shares }, () => queue))
      return {
        run(cpuMs, done) {
          used += cpuMs
          queue.push({ leftMs: cpuMs, done })
          serve()
        },
        used: () => used,
      }
    },
  }
}
