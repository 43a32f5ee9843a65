import { executionAsyncResource } from 'node:async_hooks'

type OnError = (error: unknown, event?: string) => void

/** The domains of tap's tests that have not ended, the youngest last. */
const domains: Domain[] = []

/**
 * Stands in for the package async-hook-domain, by which tap finds the test of an error that nobody caught. That follows
 * every promise and handle from its creation to its end, which takes a sixth of the CPU time of all tests. Here the error
 * is the innermost test's that runs; tests that run at once can take each other's.
 */
export class Domain {
  readonly onerror: OnError
  /** What tap makes the domain in: the hook of its test, or something else where it is for what no test has. */
  readonly #resource: { readonly test?: { readonly started?: boolean } } = executionAsyncResource()

  constructor(onerror: OnError) {
    this.onerror = onerror
    if (domains.length === 0) process.on('uncaughtExceptionMonitor', takeError)
    domains.push(this)
  }

  /** Whether it is of a test that has begun: those that wait for others are made before that. */
  get isOfStarted(): boolean {
    return this.#resource.test?.started ?? false
  }

  destroy(): void {
    const index = domains.indexOf(this)
    if (index >= 0) domains.splice(index, 1)
    if (domains.length === 0) process.off('uncaughtExceptionMonitor', takeError)
  }
}

/**
 * A test takes the error, unless the process has a handler of its own. A rejected promise that nobody handles comes here,
 * too: Node throws it.
 */
function takeError(error: unknown, event: string): void {
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return
  const domain = domains.findLast((one) => one.isOfStarted) ?? domains[0]
  if (domain === undefined) return
  domain.onerror(error, event)
  // Without it the process would end now.
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
}
