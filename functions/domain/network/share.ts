import type { Release } from './budget.ts'

/**
 * Does work that holds the thread, in the share of the caller's namespace. `isUrgent`: others wait for it, so it waits
 * for the next turn of the event loop at most, and counts. Throws what `work` throws, and Timeout.
 */
export type Share = <T>(work: () => T, isUrgent?: boolean) => Promise<T>

/**
 * Does work that holds the thread once its namespace has not had more than its share. Throws what `work` throws, and Timeout
 * if `signal` fires before it begins. `isUrgent`: others wait for it, so it waits for the next turn of the
 * event loop at most, and counts.
 */
export type WorkFor = <T>(
  namespace: string,
  work: () => T,
  signal: AbortSignal,
  isUrgent?: boolean,
) => Promise<T>

/**
 * Waits, before others wait for works of the namespace that are urgent then, until it has a share of the thread for them, and one of
 * what all have together if it has taken more than a little. The result gives back what it has not needed, and is a Promise only where
 * it has to wait. Throws Timeout.
 */
export type ReserveFor = (namespace: string, signal: AbortSignal) => Release | Promise<Release>

/**
 * The shares in what servers that anybody may name have us do: each piece of work counts, however short it is, in what all
 * namespaces have together that have taken more than a little.
 */
export interface CallShares {
  /** As in ThreadShares. */
  readonly callFor: WorkFor
  /** Counts milliseconds of the thread that the namespace has taken, or is about to take, outside of any work. */
  readonly count: (namespace: string, milliseconds: number) => void
  /** Whether work of the namespace would have to wait for longer than the next turn of the event loop. */
  readonly mustWait: (namespace: string) => boolean
}

/** The shares of all namespaces in the thread. */
export interface ThreadShares extends CallShares {
  readonly workFor: WorkFor
  readonly reserve: ReserveFor
  /** Whether the namespace has used its own share up. */
  readonly isSpent: (namespace: string) => boolean
}

/** Those in the handshakes with hosts. `workFor` also throws Timeout for a namespace whose hosts have been slow. */
export interface HandshakeShares extends Pick<CallShares, 'mustWait'> {
  readonly workFor: WorkFor
  /** The same with the operator's login, which goes to hosts of the operator's: it is only counted. */
  readonly withOperatorsLogin: WorkFor
}
