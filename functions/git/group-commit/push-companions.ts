import type { RoundReport } from '../writer/round.ts'
import type { BranchQueue, Waiter } from './queue/branch-queue.ts'
import type { Slow } from './branch-lines.ts'
import { rememberApart } from './kept-apart.ts'
import { SLOW_MS, watchPushTimes } from './push-times.ts'
import { apartKey, isOfOneNamespace, keyOf, namespaceOf, partKey } from './queue/queue-keys.ts'

/** Two pods take each other's tip in every second round: all rounds of a push may take so many times what one may. */
const LOST_ROUNDS = 2

/** How long the push of a queue takes, for those who wait for it. */
export interface PushWatch {
  /** A round of it begins, with changes of these. */
  readonly begin: (namespaces: Iterable<string>) => void
  /** It has ended. Twice does nothing. */
  readonly end: () => void
}

/** With whom each change is pushed. */
export interface PushCompanions {
  /** The key of the queue whose changes go in one push with this one. */
  readonly queueOf: (waiter: Waiter) => string
  /** Whether other namespaces may have changes in the queue of this one, which has this key. */
  readonly mayShare: (key: string, waiter: Waiter) => boolean
  /** How long the host is likely to look at a push of this namespace with the login of this one, where it is a suspect; 0 of others. */
  readonly slowMs: (waiter: Waiter, namespace: string) => Slow
  /** Its namespace pushes to the branch by itself for ten minutes; or for so many milliseconds, unless it has landed by itself. */
  readonly keepApart: (waiter: Waiter, milliseconds?: number) => void
  /**
   * The next push of this queue is about to begin. If it is shared, and a round takes longer than is usual there, or all of them
   * longer than twice that and 4 s, `late` is called, and nobody else waits for it: until it has ended, each pushes by itself.
   */
  readonly watch: (key: string, queue: BranchQueue, late: () => void) => PushWatch
  /** A round of a push that has begun with this change has ended: whoever makes it slow, or is refused by itself, is kept apart. */
  readonly roundEnded: (first: Waiter, round: RoundReport) => void
}

/** Remembers which namespaces keep others from their push, and by how long pushes take finds out who they are. */
export function choosePushCompanions(): PushCompanions {
  const apart = rememberApart()
  const times = watchPushTimes()
  /** Queues whose push takes too long. */
  const late = new Set<string>()

  function sharedQueueOf(waiter: Waiter): string {
    const key = keyOf(waiter)
    const part = apart.partOf(namespaceOf(waiter), key)
    return part === undefined ? key : partKey(waiter, part)
  }

  function mayShare(key: string, waiter: Waiter): boolean {
    return waiter.login.ofOperator === true && key !== apartKey(waiter)
  }

  return {
    queueOf(waiter) {
      const [namespace, key] = [namespaceOf(waiter), keyOf(waiter)]
      const isAlone = isOfOneNamespace(waiter) || apart.has(namespace, key) || times.isSuspect(namespace, key)
      const shared = sharedQueueOf(waiter)
      return isAlone || late.has(shared) ? apartKey(waiter) : shared
    },
    watch(key, queue, whenLate) {
      const first = queue.first()
      let timer: NodeJS.Timeout | undefined
      let beganAt: number | undefined
      let spentMs = 0
      function end(): void {
        clearTimeout(timer)
        late.delete(key)
        if (beganAt !== undefined) spentMs += performance.now() - beganAt
        beganAt = undefined
      }
      function begin(namespaces: Iterable<string>): void {
        end()
        if (first === undefined || !mayShare(key, first)) return
        beganAt = performance.now()
        const mostMs = times.mostMs(keyOf(first), namespaces)
        // Rounds that it has lost to other writers are not for its own to answer for, unless they are very many.
        const leftMs = Math.min(mostMs, Math.max(0, LOST_ROUNDS * Math.max(SLOW_MS, mostMs) - spentMs))
        timer = setTimeout(() => {
          late.add(key)
          times.isLate(keyOf(first))
          whenLate()
        }, leftMs)
      }
      begin(queue.namespaces())
      return { begin, end }
    },
    mayShare,
    slowMs: (waiter, namespace) => times.slowMs(namespace, keyOf(waiter)),
    keepApart(waiter, milliseconds) {
      const [namespace, key] = [namespaceOf(waiter), keyOf(waiter)]
      if (milliseconds === undefined) apart.keep(namespace, key)
      else apart.keepOnTrial(namespace, key, milliseconds)
    },
    roundEnded(first, round) {
      if (first.hasLeft !== true && isOfOneNamespace(first)) return
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
