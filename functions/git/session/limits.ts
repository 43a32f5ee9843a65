/** What one git process may take. */
export interface Limits {
  /** Private memory in MiB: what setrlimit(2) calls RLIMIT_DATA. */
  readonly memoryMiB: number
  /** MiB that a session fetches, and that it writes. */
  readonly fileMiB: number
}

/**
 * What a session starts with, so that many run at once. Measured with git 2.39, with and without filter: a repository of
 * 100 or of 10,000 files needs 10 MiB and 0.3 MiB, one of 100,000 files 10 MiB and 2.5 MiB, 20,000 refs need 14 MiB (of
 * which 8 are the address space of a thread's stack).
 */
export const FIRST_LIMITS: Limits = { memoryMiB: 16, fileMiB: 4 }

/** The limits of a session, with the seconds of the processor that each of its processes may take. */
export interface SessionLimits extends Limits {
  readonly cpuSeconds: number
}

/** Seconds of the processor at first: index-pack takes 0.1 of them for 4 MiB (measured with git 2.39). */
export const FIRST_CPU_SECONDS = 5

/**
 * Seconds of the processor with a large share: a quarter of an attempt's, 30 by default. A pack of 256 MiB, of texts of
 * twice that size, takes 5 of them.
 */
export function mostCPUSeconds(deadlineSeconds: number): number {
  return Math.max(FIRST_CPU_SECONDS, Math.ceil(deadlineSeconds / 4))
}

/** Most memory of one git process: enough for some 400,000 refs. */
const MOST_MEMORY_MIB = 128
/** Processes that a server can fill at the same time: git, its helper for HTTPS, and the one that receives the pack. */
const PROCESSES = 3
/** The stack of a thread counts towards their limits and is hardly used. */
const STACK_MIB = 8

/** Most that `limits` let the processes of a session hold. */
export function memoryOf({ memoryMiB }: Limits): number {
  return PROCESSES * memoryMiB - STACK_MIB
}

/** The limits with which a session holds no more than this: the opposite of `memoryOf`. */
export function limitsWithin(memoryMiB: number, fileMiB: number): Limits {
  const each = Math.floor((memoryMiB + STACK_MIB) / PROCESSES)
  return { memoryMiB: Math.min(MOST_MEMORY_MIB, each), fileMiB }
}
