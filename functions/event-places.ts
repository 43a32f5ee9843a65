import { makeAllowance } from './domain/sharing/allowance.ts'
import type { Release } from './domain/network/budget.ts'
import { openFairPlaces } from './domain/sharing/fair-places.ts'

/** The sender of an event: the webhook, by its signature, or anybody. */
export type Sender = 'webhook' | 'anybody'

/**
 * Most events in hand: those whose resource is being read, that wait for a turn, or whose attempt runs or waits for its
 * push (attempt/turns/turns.ts). Each takes some 10 KiB besides what it waits with.
 */
export const MOST_EVENTS = 1_280
/** The last 160 are for namespaces with so many. */
const FEW_EVENTS = 10
/** Of those, most that have no signature of the webhook. */
export const MOST_UNSIGNED = 320
/**
 * How many of these are read each second on average: one costs this process and the API server a millisecond or two each.
 * As many as have places may come at once.
 */
const UNSIGNED_PER_SECOND = 20
/** An event of this many bytes counts as one of those reads: to read 10 MiB takes some 0.1 s, and up to 0.5 s. */
const BYTES_PER_READ = 128 * 1024

/** What an event costs, in reads, that asks for nothing that is not planned already. */
const SHARED_READ = 0.1

/** The places for events in hand. */
export interface EventPlaces {
  /** Whether an event of this sender may be read now. One that may not be read costs nothing. */
  readonly admits: (sender: Sender) => boolean
  /** Counts what reading a body of so many bytes has cost beyond one read, once it is known: later events wait for that. */
  readonly charge: (sender: Sender, bytes: number) => void
  /** Gives back what reading an event would have cost that asked for nothing new. */
  readonly giveBack: (sender: Sender) => void
  /** Takes a place until the result is called; undefined if there is none, or none for this namespace. */
  readonly take: (sender: Sender, namespace: string) => Release | undefined
  /** The same for each further resource that an event names: it counts as an event of its own. */
  readonly takeFurther: (sender: Sender, namespace: string) => Release | undefined
  /** Whether a further namespace that an event names may be searched now: it counts as an event of its own. */
  readonly admitsSearch: (sender: Sender) => boolean
}

/**
 * Places for events. If `signs`, the webhook signs its events: a flood of others leaves it three quarters of the places.
 * Otherwise senders cannot be told apart. Each namespace has a fair share of them. `now` is in milliseconds.
 */
export function openEventPlaces(signs: boolean, now: () => number): EventPlaces {
  const inHand: Record<Sender, number> = { webhook: 0, anybody: 0 }
  const places = openFairPlaces(MOST_EVENTS, FEW_EVENTS)
  const unsigned = makeAllowance(MOST_UNSIGNED, UNSIGNED_PER_SECOND, now)

  function spendRead(): boolean {
    if (unsigned.left() < 1) return false
    unsigned.spend(1)
    return true
  }

  function hasRoom(sender: Sender): boolean {
    return places.hasRoom() && (!signs || sender === 'webhook' || inHand.anybody < MOST_UNSIGNED)
  }

  function mayRead(sender: Sender): boolean {
    return !signs || sender === 'webhook' || spendRead()
  }

  function take(sender: Sender, namespace: string): Release | undefined {
    const leave = hasRoom(sender) ? places.enter(namespace) : undefined
    if (leave === undefined) return undefined
    inHand[sender] += 1
    return () => {
      inHand[sender] -= 1
      leave()
    }
  }

  return {
    admits: (sender) => hasRoom(sender) && mayRead(sender),
    charge(sender, bytes) {
      if (sender === 'anybody') unsigned.spend(Math.max(0, bytes / BYTES_PER_READ - 1))
    },
    giveBack(sender) {
      if (sender === 'anybody') unsigned.spend(SHARED_READ - 1)
    },
    take,
    takeFurther(sender, namespace) {
      const leave = take(sender, namespace)
      if (leave === undefined || mayRead(sender)) return leave
      leave()
      return undefined
    },
    admitsSearch: mayRead,
  }
}
