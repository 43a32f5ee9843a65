import type { Change } from '../../domain/commit/change.ts'

/** Plans changes, and waits for the edits of each namespace no longer than so many milliseconds. */
export interface EditPatience {
  /** The plan; `slow`: its edits take too long, and what becomes of them is ignored. */
  readonly within: <T>(change: Change, plan: () => Promise<T>) => Promise<T | 'slow'>
}

/** How long a push of several namespaces waits for the edits of one: of larger files each takes seconds. */
export const SHARED_EDITS_MS = 500
/** And for those of all, as long as each gets a usual one: a push that takes longer than its turn loses its race. */
const ALL_EDITS_MS = 1_000
const LEAST_EDITS_MS = 50

/** `longestMs`: of a namespace, for all of its changes together; less where many namespaces of the batch have edits. */
export function waitForEdits(batch: readonly { readonly change: Change }[], longestMs: number): EditPatience {
  const used = new Map<string, number>()
  const editors = new Set(
    batch.filter(({ change }) => hasEdits(change)).map(({ change }) => change.namespace),
  )
  const part = Math.max(LEAST_EDITS_MS, ALL_EDITS_MS / editors.size)
  const mostMs = longestMs === Infinity ? Infinity : Math.min(longestMs, part)

  return {
    async within(change, plan) {
      if (mostMs === Infinity || !hasEdits(change)) return plan()
      const { namespace } = change
      const before = used.get(namespace) ?? 0
      if (before >= mostMs) return 'slow'
      const began = performance.now()
      const planned = await unlessSlow(plan(), mostMs - before)
      used.set(namespace, planned === 'slow' ? mostMs : before + performance.now() - began)
      return planned
    },
  }
}

/** Whether it changes fields of files. */
export function hasEdits({ files }: Change): boolean {
  return files.some(({ edit }) => edit !== undefined)
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
