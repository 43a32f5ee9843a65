import { ALL, difference, isWithin, makeTally, NOTHING, type Amounts } from './amounts.ts'
import type { Cost } from './cost.ts'
import { makeLane, type Lane, type OpenLane } from './lane.ts'
import type { LaneBounds, WaitingHolder } from './lane-bounds.ts'

/** What the pod has. */
export interface Stock {
  readonly memoryMiB: number
  readonly diskMiB: number
  /** The folder for temporary files is memory, so what is stored there counts as both. */
  readonly diskIsMemory: boolean
}

/** The memory and disk of the pod. */
export interface Budget {
  /** Opens a lane for one kind of work. Lanes that were opened earlier are served first. */
  readonly open: (bounds: LaneBounds) => Lane
}

/** What a budget goes by besides its stock. */
export interface BudgetTerms {
  /** Milliseconds of a clock that is never set. */
  readonly now?: (() => number) | undefined
  /** Whether the thread had no rest lately; default: never. */
  readonly isBusy?: (() => boolean) | undefined
}

/** Shares the stock among lanes: what one has taken, no other gets. */
export function makeBudget(
  { memoryMiB, diskMiB, diskIsMemory }: Stock,
  { now, isBusy = () => false }: BudgetTerms = {},
): Budget {
  const most: Amounts = { count: Infinity, memoryMiB, diskMiB }
  const taken = makeTally()
  const lanes: OpenLane[] = []

  function amountsOf(cost: Cost): Amounts {
    const memory = cost.memoryMiB + (diskIsMemory ? cost.diskMiB : 0)
    return { count: 1, memoryMiB: memory, diskMiB: cost.diskMiB }
  }

  const shelf = {
    amountsOf,
    isBusy,
    hasRoom: (amounts: Amounts, freed: Amounts = NOTHING) =>
      isWithin(most, difference(taken.of(ALL), freed), amounts),
    rest: () => difference(most, taken.of(ALL)),
    take: (amounts: Amounts) => taken.add(ALL, amounts),
    giveBack(amounts: Amounts) {
      taken.subtract(ALL, amounts)
      for (const { serve } of lanes) serve()
    },
    watch() {
      for (const { watch } of lanes) watch()
    },
  }

  return {
    open(bounds) {
      const earlier = bounds.givesWayToEarlier === true ? [...lanes] : []
      const waitElsewhere = (): readonly WaitingHolder[] => earlier.flatMap(({ waiters }) => waiters())
      const opened = makeLane(bounds, { ...shelf, waitElsewhere }, now)
      lanes.push(opened)
      return opened.lane
    },
  }
}
