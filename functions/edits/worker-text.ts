import type { WorkerText } from '../git/ssh/threads/worker-text.ts'

/** As in functions/git/ssh/threads/worker-text.ts: undefined in the sources, in a bundle the program that main.ts is here. */
export const WORKER_TEXT: WorkerText | undefined = undefined
