import type { RoundReport } from '../writer/round.ts'
import type { Waiter } from './branch-queue.ts'
import { rememberApart } from './kept-apart.ts'
import { watchPushTimes } from './push-times.ts'
import { apartKey, isOfOneNamespace, keyOf, namespaceOf, partKey } from './queue-keys.ts'

/** With whom each change is pushed. */
export interface PushCompanions {
  /** The key of the queue whose changes go in one push with this one. */
  readonly queueOf: (waiter: Waiter) => string
  /** What a push of its namespace by itself is likely to take, in milliseconds; 0 where nothing is known of it. */
  readonly likelyMs: (waiter: Waiter) => number
  /** Its namespace pushes to the branch by itself for ten minutes, or so many milliseconds. */
  readonly keepApart: (waiter: Waiter, milliseconds?: number) => void
  /** A round of a push that has begun with this change has ended: whoever makes it slow, or is refused by itself, is kept apart. */
  readonly roundEnded: (first: Waiter, round: RoundReport) => void
}

/** Remembers which namespaces keep others from their push, and by how long pushes take finds out who they are. */
export function choosePushCompanions(): PushCompanions {
  const apart = rememberApart()
  const times = watchPushTimes()
  return {
    queueOf(waiter) {
      const [namespace, key] = [namespaceOf(waiter), keyOf(waiter)]
      const isAlone = isOfOneNamespace(waiter) || apart.has(namespace, key) || times.isSuspect(namespace, key)
      if (isAlone) return apartKey(waiter)
      const part = apart.partOf(namespace, key)
      return part === undefined ? key : partKey(waiter, part)
    },
    likelyMs: (waiter) => times.likelyMs(namespaceOf(waiter), keyOf(waiter)),
    keepApart: (waiter, milliseconds) => apart.keep(namespaceOf(waiter), keyOf(waiter), milliseconds),
    roundEnded(first, round) {
      if (isOfOneNamespace(first)) return
      const shared = keyOf(first)
      const [only] = round.namespaces
      if (round.refused && round.namespaces.size === 1 && only !== undefined) apart.keep(only, shared)
      const { alone, parts } = times.ended(shared, round)
      for (const [namespace, milliseconds] of alone) apart.keep(namespace, shared, milliseconds)
      for (const [namespace, part] of parts) apart.keepIn(part, namespace, shared)
    },
  }
}
