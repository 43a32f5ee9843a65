/** Runs `work` once fewer than the limit run under the same key, in the order of the calls; before it returns where nobody waits. */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

/** Makes a semaphore that runs at most `limit` calls of each key at once; idle keys use no memory. */
export function makeKeyedSemaphore(limit: number): KeyedSemaphore {
  const queues = new Map<string, Queue>()

  function leave(key: string, queue: Queue): void {
    const next = queue.waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    queue.running -= 1
    if (queue.running === 0) queues.delete(key)
  }

  async function runNow<T>(key: string, queue: Queue, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      leave(key, queue)
    }
  }

  return function run(key, work) {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < limit) {
      queue.running += 1
      return runNow(key, queue, work)
    }
    // The call that ends hands its slot to the next one: `running` stays the same.
    const { promise, resolve } = Promise.withResolvers<undefined>()
    queue.waiting.push(() => resolve(undefined))
    return promise.then(() => runNow(key, queue, work))
  }
}
