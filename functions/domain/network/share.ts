/**
 * Does work that holds the thread, in the share of the caller's namespace. `isUrgent`: others wait for it, so it is only
 * counted. Throws what `work` throws, and Timeout.
 */
export type Share = <T>(work: () => T, isUrgent?: boolean) => Promise<T>
