/** Runs `work` when everything that came before it under the same key has ended. */
export type OneAtATime = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Makes lines of their own for each key; a line that nobody stands in is forgotten. */
export function oneAtATime(): OneAtATime {
  const lines = new Map<string, Promise<unknown>>()
  return async function run(key, work) {
    const before = lines.get(key) ?? Promise.resolve()
    const result = before.then(work, work)
    lines.set(key, result)
    try {
      return await result
    } finally {
      if (lines.get(key) === result) lines.delete(key)
    }
  }
}
