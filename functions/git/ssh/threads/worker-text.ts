/** The program of a worker in a bundle. */
export interface WorkerText {
  /** A function expression, called with `require`, `module`, `exports` and `__dirname`. */
  readonly text: string
  /** V8's code cache for it, in base64; V8 ignores one of another version. */
  readonly cache: string
}

/** Undefined in the sources; in a bundle build.ts puts the program here, so that the bundle needs no other file. */
export const WORKER_TEXT: WorkerText | undefined = undefined
