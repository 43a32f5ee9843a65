import type { UsedThread } from './thread-turns.ts'
import type { WorkerThread } from './worker-thread.ts'

/** Whose server a thread talks to: that of one namespace at a time at one address, and no others. */
export interface Place {
  readonly namespace: string
  /** IP address and port: a name may have addresses of several servers, and one of them ends the thread if it is hostile. */
  readonly server: string
}

/** A thread of a place. */
export interface PlacedThread extends UsedThread {
  readonly thread: WorkerThread
  /** Undefined: none was reached, and it may be used for another one of its namespace. */
  server: string | undefined
  /** When it was started. */
  readonly began: number
  /** Whether a server was reached. */
  hasReached: boolean
  /** Ends it where nobody uses it. */
  idle: NodeJS.Timeout | undefined
}

/** All threads, from their start until their memory is free. */
export interface StartedThreads {
  /** `now` is when it is started. @throws Error where the pod may have no more threads */
  readonly begin: (place: Place, now: number) => PlacedThread
  readonly size: () => number
  readonly countOf: (namespace: string) => number
  /** Those that are not about to end. */
  readonly living: () => readonly PlacedThread[]
  /** Those of them that nobody uses; first the one that was used the longest ago. */
  readonly idle: () => readonly PlacedThread[]
  /** How many are about to end. */
  readonly ending: () => number
  /** The living one of this place. */
  readonly find: (place: Place) => PlacedThread | undefined
  /** A living one of the namespace that is of no server yet. */
  readonly findBlank: (namespace: string) => PlacedThread | undefined
  /** Ends all of them. */
  readonly close: () => Promise<void>
}

/** `start` starts a thread; `ended` is called with each whose memory is free. */
export function keepStartedThreads(
  start: () => WorkerThread,
  ended: (placed: PlacedThread) => void,
): StartedThreads {
  const all = new Set<PlacedThread>()

  function living(): readonly PlacedThread[] {
    return [...all].filter(({ thread }) => !thread.isEnding())
  }

  return {
    begin({ namespace, server }, began) {
      const unused = { leases: 0, since: 0, logsInSince: undefined, hasReached: false, idle: undefined }
      const placed: PlacedThread = { namespace, server, began, thread: start(), ...unused }
      all.add(placed)
      void placed.thread.ended.then(() => {
        clearTimeout(placed.idle)
        all.delete(placed)
        ended(placed)
      })
      return placed
    },
    size: () => all.size,
    countOf: (namespace) => [...all].filter((placed) => placed.namespace === namespace).length,
    living,
    idle: () =>
      living()
        .filter(({ leases }) => leases === 0)
        .toSorted((a, b) => a.since - b.since),
    ending: () => all.size - living().length,
    find: ({ namespace, server }) =>
      living().find((placed) => placed.namespace === namespace && placed.server === server),
    findBlank: (namespace) =>
      living().find((placed) => placed.namespace === namespace && placed.server === undefined),
    async close() {
      for (const { thread } of all) thread.end()
      await Promise.all([...all].map(({ thread }) => thread.ended))
    },
  }
}
