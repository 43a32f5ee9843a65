import type { Change } from '../../domain/commit/change.ts'

/** Plans changes, and waits for the edits of each namespace no longer than so many milliseconds. */
export interface EditPatience {
  /** The plan; `slow`: its edits take too long, and what becomes of them is ignored. */
  readonly within: <T>(change: Change, plan: () => Promise<T>) => Promise<T | 'slow'>
}

/** How long a push of several namespaces waits for the edits of one: of larger files each takes seconds. */
export const SHARED_EDITS_MS = 500

/** `mostMs`: of a namespace, for all of its changes together. */
export function waitForEdits(mostMs: number): EditPatience {
  const used = new Map<string, number>()

  return {
    async within({ namespace, files }, plan) {
      if (mostMs === Infinity || files.every(({ edit }) => edit === undefined)) return plan()
      const before = used.get(namespace) ?? 0
      if (before >= mostMs) return 'slow'
      const began = performance.now()
      const planned = await unlessSlow(plan(), mostMs - before)
      used.set(namespace, planned === 'slow' ? mostMs : before + performance.now() - began)
      return planned
    },
  }
}

async function unlessSlow<T>(work: Promise<T>, milliseconds: number): Promise<T | 'slow'> {
  const { promise, resolve } = Promise.withResolvers<'slow'>()
  const timer = setTimeout(() => resolve('slow'), milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
