/**
 * Does work that holds the thread, in the share of the caller's namespace. `isUrgent`: others wait for it, so it is only
 * counted. Throws what `work` throws, and Timeout.
 */
export type Share = <T>(work: () => T, isUrgent?: boolean) => Promise<T>

/** The shares of all namespaces in the handshakes that hosts send. */
export interface HandshakeShares {
  /** Does work in the share of the namespace. Throws what `work` throws, and Timeout if `signal` fires before it begins. */
  readonly workFor: <T>(
    namespace: string,
    work: () => T,
    signal: AbortSignal,
    isUrgent?: boolean,
  ) => Promise<T>
  /** Whether the namespace would have to wait. */
  readonly isSpent: (namespace: string) => boolean
}
