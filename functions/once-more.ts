import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from './domain/failure.ts'

/** An API server honours a new RoleBinding some milliseconds after it has stored it. */
const SETTLING_MS = 1_000

/**
 * Reads, and where it is Commitlet's own account that may not, reads once more a second later: a right that was
 * granted by the same `kubectl apply` as the resource may not count yet.
 */
export async function onceMore<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== 'ReferenceForbidden' || error.retry !== 'slow')
      throw error
    await pause(SETTLING_MS)
    return read()
  }
}
