import { makeAllowance, type Allowance } from './domain/sharing/allowance.ts'
import { makeAllowances } from './domain/sharing/allowances.ts'
import type { Release } from './domain/network/budget.ts'
import { openFairPlaces } from './domain/sharing/fair-places.ts'

/** The sender of an event: the webhook, by its signature, a source of the operator, by its key, or anybody. */
export type Sender = 'webhook' | 'source' | 'anybody'

/**
 * Most events in hand: those whose resource is being read, that wait for a turn, or whose attempt runs or waits for its
 * push (attempt/turns/turns.ts). Each takes some 10 KiB besides what it waits with, and of its resource up to 64 KiB until its turn
 * (attempt/waiting-attempt.ts).
 */
export const MOST_EVENTS = 1_280
/** The last 160 are for namespaces with so many. */
const FEW_EVENTS = 10
/** Of those, most that have no signature of the webhook, nor the key of a source. */
export const MOST_UNSIGNED = 320
/** The last 40 of these are for namespaces with so many. */
const FEW_UNSIGNED = 3
/**
 * How many of these are read each second on average: one costs this process and the API server a millisecond or two each.
 * As many as have places may come at once.
 */
const UNSIGNED_PER_SECOND = 20
/**
 * What an event costs at least, in those reads, and how many bytes count as one: to read 10 MiB takes some 0.1 s, and up to 0.5 s. What
 * a source names waits in the line of its namespace, before it is read.
 */
const COST = {
  source: { least: 0.05, bytes: 512 * 1024 },
  anybody: { least: 1, bytes: 128 * 1024 },
} as const

/** Reads of each address that are left where those of all are spent: at once, and for how many a second. */
const OF_ADDRESS = { most: 20, perSecond: 10 } as const
/** The most reads that are owed by an address, or by all: those of two bodies of 10 MiB. */
const MOST_OWED = 160

/** What an event costs, in reads, that asks for nothing that is not planned already. */
const SHARED_READ = 0.1

/** A request that brings events: so many bytes of them, from this address, if that tells senders from each other. */
export interface EventRequest {
  readonly address?: string | undefined
  readonly bytes: number
}

/** The places for events in hand. */
export interface EventPlaces {
  /** Whether an event of this sender may be read now. One that may not be read costs nothing. */
  readonly admits: (sender: Sender, request?: EventRequest) => boolean
  /** Counts bytes of a body beyond those that were announced, once they are known: later events wait for that. */
  readonly charge: (sender: Sender, request: EventRequest) => void
  /** Gives back what reading an event would have cost that asked for nothing new. */
  readonly giveBack: (sender: Sender) => void
  /** Takes a place until the result is called; undefined if there is none, or none for this namespace. */
  readonly take: (sender: Sender, namespace: string) => Release | undefined
  /** The same for each further resource that an event names: it counts as an event of its own, from the same address. */
  readonly takeFurther: (sender: Sender, namespace: string, address?: string) => Release | undefined
  /** Whether a further namespace that an event names may be searched now: it counts as an event of its own. */
  readonly admitsSearch: (sender: Sender, address?: string) => boolean
}

/**
 * Places for events. If `signs`, the webhook signs its events, and sources have a key: a flood of others leaves them three quarters
 * of the places, and the reads of sources. Otherwise senders cannot be told apart. Each namespace has a fair share of them. `now`
 * is in milliseconds.
 */
export function openEventPlaces(signs: boolean, now: () => number): EventPlaces {
  const places = openFairPlaces(MOST_EVENTS, FEW_EVENTS)
  // A namespace whose attempts wait leaves others some of these as well.
  const ofAnybody = openFairPlaces(MOST_UNSIGNED, FEW_UNSIGNED)
  const readsOfSources = makeAllowance(MOST_UNSIGNED, UNSIGNED_PER_SECOND, now)
  const readsOfAnybody = makeAllowance(MOST_UNSIGNED, UNSIGNED_PER_SECOND, now)
  const readsOfAddresses = makeAllowances(OF_ADDRESS.most, OF_ADDRESS.perSecond, now)
  const isAnybody = (sender: Sender): boolean => signs && sender === 'anybody'

  function hasRoom(sender: Sender): boolean {
    // What a source tells of waits in the line of its namespace.
    return sender === 'source' || (places.hasRoom() && (!isAnybody(sender) || ofAnybody.hasRoom()))
  }

  function readsOf(sender: 'source' | 'anybody', address: string | undefined): Reads {
    if (sender === 'source') return { shared: readsOfSources }
    return { shared: readsOfAnybody, ...(address === undefined ? {} : { own: readsOfAddresses.of(address) }) }
  }

  /** Counts the bytes as read; false if nothing may be read now. */
  function mayRead(sender: Sender, { address, bytes }: EventRequest = { bytes: 0 }): boolean {
    if (sender === 'webhook' || (sender === 'anybody' && !signs)) return true
    const cost = COST[sender]
    return spend(readsOf(sender, address), Math.max(cost.least, bytes / cost.bytes))
  }

  function take(sender: Sender, namespace: string): Release | undefined {
    const leave = places.enter(namespace)
    if (leave === undefined || !isAnybody(sender)) return leave
    const leaveAnybody = ofAnybody.enter(namespace)
    if (leaveAnybody === undefined) leave()
    return leaveAnybody && both(leave, leaveAnybody)
  }

  return {
    admits: (sender, request) => hasRoom(sender) && mayRead(sender, request),
    charge(sender, { address, bytes }) {
      if (sender === 'webhook') return
      const { shared, own = shared } = readsOf(sender, address)
      owe(own, bytes / COST[sender].bytes)
    },
    giveBack(sender) {
      if (sender === 'anybody') readsOfAnybody.spend(SHARED_READ - 1)
    },
    take,
    takeFurther(sender, namespace, address) {
      const leave = take(sender, namespace)
      if (leave === undefined || mayRead(sender, { address, bytes: 0 })) return leave
      leave()
      return undefined
    },
    admitsSearch: (sender, address) => mayRead(sender, { address, bytes: 0 }),
  }
}

function both(one: Release, other: Release): Release {
  return () => {
    one()
    other()
  }
}

/** What a sender may still have read: it shares the one with others, and the other is of its address. */
interface Reads {
  readonly shared: Allowance
  readonly own?: Allowance
}

/** Of what all have while that is enough, and then of what the address has: who floods leaves each other address that. */
function spend({ shared, own }: Reads, reads: number): boolean {
  if (own !== undefined && own.left() < 0) return false
  const from = shared.left() >= (own === undefined ? 1 : reads) ? shared : own
  if (from === undefined || from.left() < 1) return false
  owe(from, reads)
  return true
}

function owe(from: Allowance, reads: number): void {
  from.spend(Math.min(reads, from.left() + MOST_OWED))
}
