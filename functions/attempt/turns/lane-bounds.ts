import type { Holder } from '../../world.ts'
import type { Amounts } from './amounts.ts'
import type { Cost } from './cost.ts'

/** What may be held: in total, by one namespace and at one host. */
export interface HeldBound {
  readonly total: Amounts
  readonly perNamespace: Amounts
  /** Higher than for a namespace: most tenants share a host. */
  readonly perHost: Amounts
  /**
   * The part of what is left, in total, at its host and by all lanes, up to which a namespace that holds something gets
   * more. Default: there is no such bound.
   */
  readonly ofRest?: number
  /** The part, in total and at a host, of all that take so much memory: the rest is for small ones. Default: there is no such bound. */
  readonly large?: { readonly aboveMiB: number; readonly part: number }
  /** By all namespaces together that had to give way to others. */
  readonly ofSlow: Amounts
}

/** How many may wait: in total, of one namespace and for one host. */
export interface WaitingBound {
  readonly total: number
  readonly perNamespace: number
  readonly perHost: number
}

export interface LaneBounds {
  readonly held: HeldBound
  readonly waiting: WaitingBound
  /** Milliseconds for which a share gives way to nobody, however many wait; default: as of giving-way.ts. */
  readonly ownMs?: number
  /** Whether shares give way also to those who wait in lanes that were opened earlier. Default: to those of their own lane alone. */
  readonly givesWayToEarlier?: true
  /** Whether namespaces begin one by one while the thread is busy (one-by-one.ts). Default: they do not. */
  readonly oneByOne?: true
}

/** How busy a lane is. */
export interface LaneFigures {
  readonly running: number
  readonly waiting: number
  /** How long the first of those that wait has waited; 0 without one. */
  readonly oldestSeconds: number
  /** Of the budget, also by those that only wait for something else. */
  readonly heldBytes: number
}

/** Who waits for a share. */
export interface WaitingHolder {
  readonly holder: Holder
  readonly amounts: Amounts
  readonly since: number
}

/** What all lanes take from. */
export interface Shelf {
  readonly amountsOf: (cost: Cost) => Amounts
  /** Whether the thread had no rest lately. */
  readonly isBusy: () => boolean
  /** `freed`: as if this had been given back. */
  readonly hasRoom: (amounts: Amounts, freed?: Amounts) => boolean
  /** What no lane has taken. */
  readonly rest: () => Amounts
  readonly take: (amounts: Amounts) => void
  /** Serves all lanes afterwards. */
  readonly giveBack: (amounts: Amounts) => void
  /** Those that wait in other lanes and to whom shares of this one give way. */
  readonly waitElsewhere: () => readonly WaitingHolder[]
  /** Somebody begins to wait: has shares of all lanes give way where that is due. */
  readonly watch: () => void
}
