/** Runs `work` once fewer than the limit run under the same key, in the order of the calls. */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

/** Makes a semaphore that runs at most `limit` calls of each key at once; idle keys use no memory. */
export function makeKeyedSemaphore(limit: number): KeyedSemaphore {
  const queues = new Map<string, Queue>()

  async function enter(key: string): Promise<Queue> {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    // The call that ends hands its slot to the next one: `running` stays the same.
    if (queue.running >= limit) await new Promise<void>((resolve) => queue.waiting.push(resolve))
    else queue.running += 1
    return queue
  }

  function leave(key: string, queue: Queue): void {
    const next = queue.waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    queue.running -= 1
    if (queue.running === 0) queues.delete(key)
  }

  return async function run(key, work) {
    const queue = await enter(key)
    try {
      return await work()
    } finally {
      leave(key, queue)
    }
  }
}
