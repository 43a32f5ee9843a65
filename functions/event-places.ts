import type { Release } from './domain/network/budget.ts'

/** The sender of an event: the webhook, by its signature, or anybody. */
export type Sender = 'webhook' | 'anybody'

/**
 * Most events in hand: the attempts that run or wait (attempt/shares.ts), and some 250 whose resource is being read. Each
 * takes some 10 KiB, and each read some milliseconds.
 */
export const MOST_EVENTS = 1_280
/** Of those, most that have no signature of the webhook. */
export const MOST_UNSIGNED = 320
/** How many of these are taken each second on average: each costs a read of the API server. As many may come at once. */
const UNSIGNED_PER_SECOND = 50

/** The places for events in hand. */
export interface EventPlaces {
  /** Whether an event of this sender may be read now. One that may not be read costs nothing. */
  readonly admits: (sender: Sender) => boolean
  /** Takes a place until the result is called; undefined if there is none. */
  readonly take: (sender: Sender) => Release | undefined
}

/**
 * Places for events. If `signs`, the webhook signs its events: a flood of others leaves it three quarters of the places.
 * Otherwise senders cannot be told apart. `now` is in milliseconds.
 */
export function openEventPlaces(signs: boolean, now: () => number): EventPlaces {
  const inHand: Record<Sender, number> = { webhook: 0, anybody: 0 }
  let allowance = MOST_UNSIGNED
  let countedAt = now()

  function spendAllowance(): boolean {
    const time = now()
    allowance = Math.min(MOST_UNSIGNED, allowance + ((time - countedAt) * UNSIGNED_PER_SECOND) / 1000)
    countedAt = time
    if (allowance < 1) return false
    allowance -= 1
    return true
  }

  function hasRoom(sender: Sender): boolean {
    const isOpen = inHand.webhook + inHand.anybody < MOST_EVENTS
    return isOpen && (!signs || sender === 'webhook' || inHand.anybody < MOST_UNSIGNED)
  }

  return {
    admits: (sender) => hasRoom(sender) && (!signs || sender === 'webhook' || spendAllowance()),
    take(sender) {
      if (!hasRoom(sender)) return undefined
      inHand[sender] += 1
      return () => {
        inHand[sender] -= 1
      }
    },
  }
}
