import { makeKeyedSemaphore } from './keyed-semaphore.ts'

/** Does work in a turn of the event loop in which no other work that was handed in is done. Throws what `work` throws. */
export type InOneTurn = <T>(work: () => T | Promise<T>) => Promise<T>

/** For what may be there to be done at the same moment, however much, and holds the thread. `nextTurn`: resolves in the next one. */
export function oneInATurn(nextTurn: () => Promise<unknown>): InOneTurn {
  const oneByOne = makeKeyedSemaphore(1)
  return (work) =>
    oneByOne('', async () => {
      await nextTurn()
      return work()
    })
}
