/** The time of a simulation, in milliseconds, and what happens in it. Two events of the same time keep their order. */
export interface Clock {
  readonly now: () => number
  /** Calls `event` after this many milliseconds of simulated time. */
  readonly after: (delayMs: number, event: () => void) => void
  /** Lets time pass until `isOver` holds or nothing is left to happen. */
  readonly run: (isOver: () => boolean) => void
}

interface Entry {
  readonly time: number
  readonly order: number
  readonly event: () => void
}

/** A clock that stands at 0. Its events are in a binary heap. */
export function makeClock(): Clock {
  const heap: Entry[] = []
  let now = 0
  let count = 0

  function after(delayMs: number, event: () => void): void {
    count += 1
    heap.push({ time: now + delayMs, order: count, event })
    let child = heap.length - 1
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!swapIfBefore(heap, child, parent)) return
      child = parent
    }
  }

  function next(): Entry | undefined {
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let parent = 0; ;) {
      const left = 2 * parent + 1
      const child = isBefore(heap[left + 1], heap[left]) ? left + 1 : left
      if (!swapIfBefore(heap, child, parent)) return first
      parent = child
    }
  }

  function run(isOver: () => boolean): void {
    while (!isOver()) {
      const entry = next()
      if (entry === undefined) return
      now = entry.time
      entry.event()
    }
  }

  return { now: () => now, after, run }
}

function isBefore(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return one.time < other.time || (one.time === other.time && one.order < other.order)
}

function swapIfBefore(heap: Entry[], child: number, parent: number): boolean {
  const [low, high] = [heap[child], heap[parent]]
  if (low === undefined || high === undefined || !isBefore(low, high)) return false
  heap[child] = high
  heap[parent] = low
  return true
}
