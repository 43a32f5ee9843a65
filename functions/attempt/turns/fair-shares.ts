import type { Holder } from '../../world.ts'
import { ALL, isWithin, makeTally, NOTHING, partOfRest, sum, type Amounts } from './amounts.ts'
import type { HeldBound } from './lane-bounds.ts'

/** What is held of a lane, and by whom. */
export interface FairShares {
  readonly add: (holder: Holder, amounts: Amounts) => void
  readonly subtract: (holder: Holder, amounts: Amounts) => void
  /** Whether the holder may have as much besides, wherever there is room. `slow`: who had to give way lately. */
  readonly isFair: (holder: Holder, amounts: Amounts, slow: readonly string[]) => boolean
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

  /** Whether something is left for those who hold nothing yet. */
  function leavesRest(holder: Holder, amounts: Amounts): boolean {
    const { namespace, host } = holder
    const leaves = (limit: Amounts, all: string, own: string): boolean =>
      ofRest === undefined || isWithin(partOfRest(limit, tally.of(all), ofRest), tally.of(own), amounts)
    return (
      leaves(total, ALL, namespaceKey(namespace)) && leaves(perHost, hostKey(host), bothKey(namespace, host))
    )
  }

  return {
    add: (holder, amounts) => keysOf(holder).forEach((key) => tally.add(key, amounts)),
    subtract: (holder, amounts) => keysOf(holder).forEach((key) => tally.subtract(key, amounts)),
    isFair(holder, amounts, slow) {
      const { namespace, host } = holder
      if (!hasOwnRoom(namespace, amounts) || !hasRoomAt(host, amounts)) return false
      if (!leavesRest(holder, amounts)) return false
      return !slow.includes(namespace) || isWithin(ofSlow, slow.map(heldBy).reduce(sum, NOTHING), amounts)
    },
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
