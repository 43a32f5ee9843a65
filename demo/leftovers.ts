/** What has to be closed at the end of the demo, whether it succeeds, fails or is stopped. */
export interface Leftovers {
  /** Waits until something is open, and registers how to close it. */
  hold<T>(opening: Promise<T>, close: (opened: T) => Promise<unknown>): Promise<T>
  /** Closes everything in reverse order, and waits for what is still being opened. Never throws. */
  clear(deadlineMs: number): Promise<void>
}

/** Makes an empty list. */
export function makeLeftovers(): Leftovers {
  const closing: (() => Promise<unknown>)[] = []
  let cleared = false

  async function closeAll(): Promise<void> {
    for (let close = closing.pop(); close !== undefined; close = closing.pop()) {
      // An error of one opening or closing must not keep the others open.
      await close().catch(() => undefined)
    }
  }

  return {
    hold(opening, close) {
      if (cleared) void opening.then(close, () => undefined)
      else closing.push(() => opening.then(close))
      return opening
    },
    async clear(deadlineMs) {
      cleared = true
      const timeout = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => timeout.resolve(undefined), deadlineMs)
      await Promise.race([closeAll(), timeout.promise])
      clearTimeout(timer)
    },
  }
}
