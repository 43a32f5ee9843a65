import type { UsedThread } from './thread-turns.ts'
import type { WorkerThread } from './worker-thread.ts'

/** Whose servers a thread talks to: those of one namespace at one host, and no others. */
export interface Place {
  readonly namespace: string
  /** Name and port. */
  readonly host: string
}

/** A thread of a place. */
export interface PlacedThread extends Place, UsedThread {
  readonly thread: WorkerThread
  /** Ends it where nobody uses it. */
  idle: NodeJS.Timeout | undefined
}

/** All threads, from their start until their memory is free. */
export interface StartedThreads {
  /** @throws Error where the pod may have no more threads */
  readonly begin: (place: Place) => PlacedThread
  readonly size: () => number
  readonly countOf: (namespace: string) => number
  /** Those that are not about to end. */
  readonly living: () => readonly PlacedThread[]
  /** How many are about to end. */
  readonly ending: () => number
  /** The living one of this place. */
  readonly find: (place: Place) => PlacedThread | undefined
  /** Ends all of them. */
  readonly close: () => Promise<void>
}

/** `start` starts a thread; `ended` is called whenever the memory of one is free. */
export function keepStartedThreads(start: () => WorkerThread, ended: () => void): StartedThreads {
  const all = new Set<PlacedThread>()

  function living(): readonly PlacedThread[] {
    return [...all].filter(({ thread }) => !thread.isEnding())
  }

  return {
    begin({ namespace, host }) {
      const placed: PlacedThread = { namespace, host, thread: start(), leases: 0, since: 0, idle: undefined }
      all.add(placed)
      void placed.thread.ended.then(() => {
        clearTimeout(placed.idle)
        all.delete(placed)
        ended()
      })
      return placed
    },
    size: () => all.size,
    countOf: (namespace) => [...all].filter((placed) => placed.namespace === namespace).length,
    living,
    ending: () => all.size - living().length,
    find: ({ namespace, host }) =>
      living().find((placed) => placed.namespace === namespace && placed.host === host),
    async close() {
      for (const { thread } of all) thread.end()
      await Promise.all([...all].map(({ thread }) => thread.ended))
    },
  }
}
