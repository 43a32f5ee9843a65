/** What has to be closed at the end, however the end comes. */
export interface Leftovers {
  /** Waits until something is open, and remembers to close it. */
  hold<T>(opening: Promise<T>, close: (opened: T) => Promise<unknown>): Promise<T>
  /** Closes everything, the last opened first; waits for what is still being opened. Never throws. */
  clear(deadlineMs: number): Promise<void>
}

/** Makes an empty list. */
export function makeLeftovers(): Leftovers {
  const closing: (() => Promise<unknown>)[] = []
  let cleared = false

  async function closeAll(): Promise<void> {
    for (let close = closing.pop(); close !== undefined; close = closing.pop()) {
      // What cannot be opened or closed must not keep the rest open.
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
      const late = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => late.resolve(undefined), deadlineMs)
      await Promise.race([closeAll(), late.promise])
      clearTimeout(timer)
    },
  }
}
