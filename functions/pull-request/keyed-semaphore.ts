/** Runs `work` as soon as fewer than so many others run under the same key, in the order of the calls. */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/** Makes lines of their own for each key, in which at most `most` run at once; an empty line is forgotten. */
export function makeKeyedSemaphore(most: number): KeyedSemaphore {
  const lines = new Map<string, Line>()

  async function enter(key: string): Promise<Line> {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    lines.set(key, line)
    // Whoever leaves hands his place on.
    if (line.running >= most) await new Promise<void>((resolve) => line.waiting.push(resolve))
    else line.running += 1
    return line
  }

  function leave(key: string, line: Line): void {
    const next = line.waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    line.running -= 1
    if (line.running === 0) lines.delete(key)
  }

  return async function run(key, work) {
    const line = await enter(key)
    try {
      return await work()
    } finally {
      leave(key, line)
    }
  }
}
