import { openLastingCache } from '../../domain/sharing/lasting-cache.ts'
import { PREPARING } from './cost.ts'

/** What changes have kept until their push. */
export interface KeptSizes {
  /** The most of a change of this namespace lately, in MiB; 0: no more than others take while they are made. */
  readonly of: (namespace: string) => number
  readonly add: (namespace: string, memoryMiB: number) => void
}

/** How long it is remembered. */
const REMEMBERED_MS = 10 * 60_000
/** Most namespaces that are remembered. */
const MOST = 1_000

/**
 * An object of 160 KB may become a file of 10 MiB, and who has one such object has it again at the next attempt. `now` is in
 * milliseconds of a clock that is never set.
 */
export function rememberKeptSizes(now: () => number = () => performance.now()): KeptSizes {
  const sizes = openLastingCache<number>(MOST, REMEMBERED_MS, now)
  const of = (namespace: string): number => sizes.get(namespace, namespace) ?? 0
  return {
    of,
    add(namespace, memoryMiB) {
      if (memoryMiB > PREPARING.memoryMiB && memoryMiB >= of(namespace))
        sizes.set(namespace, namespace, memoryMiB)
    },
  }
}
