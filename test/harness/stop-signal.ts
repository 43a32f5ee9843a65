import { once } from 'node:events'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const LOOK_MS = 200

/**
 * Aborts at the first signal that asks this process to end, and when npm, which started it, is gone: npm forwards
 * SIGINT and SIGTERM, but not SIGHUP. From the call on, such a signal no longer ends the process.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of SIGNALS) process.on(signal, () => stop.abort())
  if (process.env['npm_lifecycle_event'] === undefined) return stop.signal
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid !== parent) stop.abort()
  }, LOOK_MS)
  timer.unref()
  return stop.signal
}

/** Resolves when the signal has fired. */
export async function until(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
