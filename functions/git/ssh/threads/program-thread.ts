import { Worker } from 'node:worker_threads'
import type { WorkerText } from './worker-text.ts'

/** The program of a thread: its text in a bundle, and its file in the sources, which a bundle does not have. */
export interface ThreadProgram {
  readonly text: WorkerText | undefined
  readonly source: () => URL
}

const YOUNG_MIB = 8

/** Runs the program of the bundle, of which nothing else is loaded. */
const BOOT = `const { text, cache } = require('node:worker_threads').workerData
  const settings = { filename: 'worker.cjs', cachedData: Buffer.from(cache, 'base64') }
  new (require('node:vm').Script)(text, settings).runInThisContext()(require, module, exports, '')`

/** Starts a thread with a heap of this size. It gets nothing of the environment and prints nothing. */
export function startProgramThread({ text, source }: ThreadProgram, heapMiB: number): Worker {
  const options = {
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: YOUNG_MIB },
  }
  const worker =
    text === undefined
      ? new Worker(source(), options)
      : new Worker(BOOT, { ...options, eval: true, workerData: text })
  worker.stdout.resume()
  worker.stderr.resume()
  return worker
}

/** Whether a thread has ended with this error because its heap was too small. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}
