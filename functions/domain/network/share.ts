/**
 * Does work that holds the thread, in the share of the caller's namespace. `isUrgent`: others wait for it, so it is only
 * counted. Throws what `work` throws, and Timeout.
 */
export type Share = <T>(work: () => T, isUrgent?: boolean) => Promise<T>

/**
 * Does work that holds the thread once its namespace has not had more than its share. Throws what `work` throws, and Timeout
 * if `signal` fires before it begins. `isUrgent`: others wait for it, so it is only counted.
 */
export type WorkFor = <T>(
  namespace: string,
  work: () => T,
  signal: AbortSignal,
  isUrgent?: boolean,
) => Promise<T>

/** The shares of all namespaces in the thread. */
export interface ThreadShares {
  readonly workFor: WorkFor
  /** Whether the namespace would have to wait. */
  readonly isSpent: (namespace: string) => boolean
}

/** Those in the handshakes with hosts. `workFor` also throws Timeout for a namespace whose hosts have been slow. */
export interface HandshakeShares extends ThreadShares {
  /** The same with the operator's login, which goes to hosts of the operator's: it is only counted. */
  readonly withOperatorsLogin: WorkFor
}
