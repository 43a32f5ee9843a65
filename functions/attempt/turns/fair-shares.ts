import type { Holder } from '../../world.ts'
import { ALL, isWithin, makeTally, NOTHING, partOfRest, sum, type Amounts } from './amounts.ts'
import type { HeldBound } from './lane-bounds.ts'

/** What is held of a lane, and by whom. */
export interface FairShares {
  readonly add: (holder: Holder, amounts: Amounts) => void
  readonly subtract: (holder: Holder, amounts: Amounts) => void
  /** Whether the namespace may hold so much more, wherever there is room. `slow`: who had to give way lately. */
  readonly hasShare: (namespace: string, amounts: Amounts, slow: readonly string[]) => boolean
  /** The same, of what is held at the host. */
  readonly hasShareAt: (holder: Holder, amounts: Amounts) => boolean
  readonly hasRoom: (amounts: Amounts) => boolean
  /** Whether the namespace may have so much more, whatever others hold. */
  readonly hasOwnRoom: (namespace: string, amounts: Amounts) => boolean
  /** Whether so much more may be held at the host. */
  readonly hasRoomAt: (host: string, amounts: Amounts) => boolean
  readonly heldBy: (namespace: string) => Amounts
  readonly held: () => Amounts
}

/** Nothing is held yet. */
export function openFairShares({ total, perNamespace, perHost, ofRest, ofSlow }: HeldBound): FairShares {
  const tally = makeTally()
  const keysOf = ({ namespace, host }: Holder): readonly string[] => [
    ALL,
    namespaceKey(namespace),
    hostKey(host),
    bothKey(namespace, host),
  ]
  const heldBy = (namespace: string): Amounts => tally.of(namespaceKey(namespace))
  const hasOwnRoom = (namespace: string, amounts: Amounts): boolean =>
    isWithin(perNamespace, heldBy(namespace), amounts)
  const hasRoomAt = (host: string, amounts: Amounts): boolean =>
    isWithin(perHost, tally.of(hostKey(host)), amounts)

  /** Whether one who holds `own` may hold so much more, and something is left for those who hold nothing yet. */
  function leavesRest(limit: Amounts, all: Amounts, own: Amounts, more: Amounts): boolean {
    return ofRest === undefined || isWithin(partOfRest(limit, all, ofRest), own, more)
  }

  return {
    add: (holder, amounts) => keysOf(holder).forEach((key) => tally.add(key, amounts)),
    subtract: (holder, amounts) => keysOf(holder).forEach((key) => tally.subtract(key, amounts)),
    hasShare(namespace, amounts, slow) {
      if (!hasOwnRoom(namespace, amounts)) return false
      if (!leavesRest(total, tally.of(ALL), heldBy(namespace), amounts)) return false
      return !slow.includes(namespace) || isWithin(ofSlow, slow.map(heldBy).reduce(sum, NOTHING), amounts)
    },
    hasShareAt: ({ namespace, host }, amounts) =>
      hasRoomAt(host, amounts) &&
      leavesRest(perHost, tally.of(hostKey(host)), tally.of(bothKey(namespace, host)), amounts),
    hasRoom: (amounts) => isWithin(total, tally.of(ALL), amounts),
    hasOwnRoom,
    hasRoomAt,
    heldBy,
    held: () => tally.of(ALL),
  }
}

function namespaceKey(namespace: string): string {
  return `namespace ${namespace}`
}

function bothKey(namespace: string, host: string): string {
  return `namespace ${namespace} at ${host}`
}

function hostKey(host: string): string {
  return `host ${host}`
}
