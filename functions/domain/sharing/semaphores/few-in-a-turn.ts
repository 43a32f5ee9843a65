/** Begins what is handed in, in order: at once, or in one of the next turns of the event loop. */
export type FewInATurn = (begin: () => void) => void

/**
 * For what may be due at the same moment, however much, and what holds the thread when it is begun and when it ends: `most` are
 * begun in a turn of the event loop, so that turns stay short for everything else. `nextTurn` does a work in the next one.
 */
export function fewInATurn(most: number, nextTurn: (work: () => void) => void): FewInATurn {
  const waiting: (() => void)[] = []
  let left = most
  let isCounting = false

  function beginTurn(): void {
    isCounting = false
    left = most
    for (const begin of waiting.splice(0, most)) perform(begin)
  }

  function perform(begin: () => void): void {
    left -= 1
    if (!isCounting) nextTurn(beginTurn)
    isCounting = true
    begin()
  }

  return function handIn(begin) {
    if (left > 0) perform(begin)
    else waiting.push(begin)
  }
}
