import type { RoundReport } from '../writer/round.ts'
import type { Waiter } from './branch-queue.ts'
import { rememberApart } from './kept-apart.ts'
import { watchPushTimes } from './push-times.ts'
import { apartKey, isOfOneNamespace, keyOf, namespaceOf, partKey } from './queue-keys.ts'

/** With whom each change is pushed. */
export interface PushCompanions {
  /** The key of the queue whose changes go in one push with this one. */
  readonly queueOf: (waiter: Waiter) => string
  /** How long the host is likely to look at its push, in milliseconds, where its namespace is a suspect; 0 of others. */
  readonly slowMs: (waiter: Waiter) => number
  /** Its namespace pushes to the branch by itself for ten minutes; or for so many milliseconds, unless it has landed by itself. */
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
    slowMs: (waiter) => times.slowMs(namespaceOf(waiter), keyOf(waiter)),
    keepApart(waiter, milliseconds) {
      const [namespace, key] = [namespaceOf(waiter), keyOf(waiter)]
      if (milliseconds === undefined) apart.keep(namespace, key)
      else apart.keepOnTrial(namespace, key, milliseconds)
    },
    roundEnded(first, round) {
      if (isOfOneNamespace(first)) return
      const shared = keyOf(first)
      const [only, ...others] = round.namespaces
      if (only !== undefined && others.length === 0) {
        if (round.refused) apart.keep(only, shared)
        if (round.head !== undefined) apart.landed(only, shared)
      }
      const { alone, parts } = times.ended(shared, round)
      for (const [namespace, milliseconds] of alone) apart.keep(namespace, shared, milliseconds)
      for (const [namespace, part] of parts) apart.keepIn(part, namespace, shared)
    },
  }
}
