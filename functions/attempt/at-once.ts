/** Runs at most `most` calls at once, in the order in which they come. */
export function limitAtOnce(most: number): <T>(call: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  return async function run(call) {
    // The call that ends hands its place to the next one: `running` stays the same.
    if (running >= most) await new Promise<void>((resolve) => queue.push(resolve))
    else running += 1
    try {
      return await call()
    } finally {
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
