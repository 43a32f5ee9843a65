/** What the work results in, and how many turns the event loop had meanwhile. */
export async function countTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let [turns, isDone] = [0, false]
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  isDone = true
  return { result, turns }
}
