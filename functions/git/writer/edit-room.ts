import type { Change } from '../../domain/commit/change.ts'
import { hasEdits } from './edit-patience.ts'

/** Which changes of a batch one push makes the edits of. */
export interface EditRoom {
  /** Whether this one, whose edits are about to make so many bytes, is among them; always where it makes none. */
  readonly takes: (change: Change, bytes: number) => boolean
}

/** Bytes of the files that are edited for one push, which are held until it has ended; a single change may have more. */
const MOST_BYTES = 8 * 1024 * 1024

/** Whoever edits little is in the push, however much others do: each namespace of the batch has its part. */
export function openEditRoom(batch: readonly { readonly change: Change }[]): EditRoom {
  const taken = new Map<string, number>()
  const editors = batch.filter(({ change }) => hasEdits(change)).map(({ change }) => change.namespace)
  const part = MOST_BYTES / new Set(editors).size
  let all = 0

  return {
    takes({ namespace }, bytes) {
      const own = (taken.get(namespace) ?? 0) + bytes
      if (bytes > 0 && all > 0 && all + bytes > MOST_BYTES && own > part) return false
      taken.set(namespace, own)
      all += bytes
      return true
    },
  }
}
