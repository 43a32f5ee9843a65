import type { Holder } from '../../world.ts'
import { ALL, difference, isWithin, makeTally, NOTHING, part, sum, type Amounts } from './amounts.ts'
import type { HeldBound, Shelf } from './lane-bounds.ts'

/** What is held of a lane, and by whom. */
export interface FairShares {
  readonly add: (holder: Holder, amounts: Amounts) => void
  readonly subtract: (holder: Holder, amounts: Amounts) => void
  /** Whether the namespace may hold so much more, wherever there is room. `slow`: who had to give way lately. */
  readonly hasShare: (namespace: string, amounts: Amounts, slow: readonly string[]) => boolean
  /** The same, of what is held at the host. */
  readonly hasShareAt: (holder: Holder, amounts: Amounts) => boolean
  /** Whether the holder may keep `next` in place of `before`, which it holds: less memory always, more where that is fair. */
  readonly mayKeep: (
    holder: Holder,
    amounts: { readonly before: Amounts; readonly next: Amounts },
    slow: readonly string[],
  ) => boolean
  /** `freed`: as if this had been given back. */
  readonly hasRoom: (amounts: Amounts, freed?: Amounts) => boolean
  /** Whether the namespace may have so much more, whatever others hold. */
  readonly hasOwnRoom: (namespace: string, amounts: Amounts) => boolean
  /** Whether so much more may be held at the host. */
  readonly hasRoomAt: (host: string, amounts: Amounts) => boolean
  readonly heldBy: (namespace: string) => Amounts
  readonly held: () => Amounts
}

/** Nothing is held yet. */
export function openFairShares(
  { total, perNamespace, perHost, ofRest, large, ofSlow }: HeldBound,
  shelf: Pick<Shelf, 'rest'>,
): FairShares {
  const tally = makeTally()
  const isLarge = ({ memoryMiB }: Amounts): boolean => large !== undefined && memoryMiB > large.aboveMiB
  const keysOf = ({ namespace, host }: Holder, amounts: Amounts): readonly string[] => [
    ALL,
    namespaceKey(namespace),
    hostKey(host),
    bothKey(namespace, host),
    ...(isLarge(amounts) ? [LARGE, largeKey(host)] : []),
  ]
  const heldBy = (namespace: string): Amounts => tally.of(namespaceKey(namespace))
  const hasOwnRoom = (namespace: string, amounts: Amounts): boolean =>
    isWithin(perNamespace, heldBy(namespace), amounts)
  const hasRoomAt = (host: string, amounts: Amounts): boolean =>
    isWithin(perHost, tally.of(hostKey(host)), amounts)

  /** Whether one who holds `own` may hold so much more of this rest, and something is left for those who hold nothing yet. */
  function leaves(rest: Amounts, own: Amounts, more: Amounts): boolean {
    return ofRest === undefined || isWithin(part(rest, ofRest), own, more)
  }

  /** Whether it is small, or the large ones leave something to small ones. */
  function leavesSmall(limit: Amounts, key: string, more: Amounts): boolean {
    return large === undefined || !isLarge(more) || isWithin(part(limit, large.part), tally.of(key), more)
  }

  function hasShare(namespace: string, amounts: Amounts, slow: readonly string[]): boolean {
    if (!hasOwnRoom(namespace, amounts)) return false
    const own = heldBy(namespace)
    if (!leaves(difference(total, tally.of(ALL)), own, amounts)) return false
    // What all lanes draw on: others may have taken most of it.
    if (!leaves(shelf.rest(), own, amounts)) return false
    if (!leavesSmall(total, LARGE, amounts)) return false
    return !slow.includes(namespace) || isWithin(ofSlow, slow.map(heldBy).reduce(sum, NOTHING), amounts)
  }

  function hasShareAt({ namespace, host }: Holder, amounts: Amounts): boolean {
    if (!hasRoomAt(host, amounts) || !leavesSmall(perHost, largeKey(host), amounts)) return false
    return leaves(difference(perHost, tally.of(hostKey(host))), tally.of(bothKey(namespace, host)), amounts)
  }

  const hasRoom = (amounts: Amounts, freed = NOTHING): boolean =>
    isWithin(total, difference(tally.of(ALL), freed), amounts)
  const add = (holder: Holder, amounts: Amounts): void =>
    keysOf(holder, amounts).forEach((key) => tally.add(key, amounts))
  const subtract = (holder: Holder, amounts: Amounts): void =>
    keysOf(holder, amounts).forEach((key) => tally.subtract(key, amounts))

  return {
    add,
    subtract,
    hasShare,
    hasShareAt,
    mayKeep(holder, { before, next }, slow) {
      if (next.memoryMiB <= before.memoryMiB) return true
      subtract(holder, before)
      const isFair = hasShare(holder.namespace, next, slow) && hasShareAt(holder, next)
      const may = isFair && hasRoom(next)
      add(holder, before)
      return may
    },
    hasRoom,
    hasOwnRoom,
    hasRoomAt,
    heldBy,
    held: () => tally.of(ALL),
  }
}

/** The key of what takes more memory than others. */
const LARGE = 'large'

function namespaceKey(namespace: string): string {
  return `namespace ${namespace}`
}

function bothKey(namespace: string, host: string): string {
  return `namespace ${namespace} at ${host}`
}

function largeKey(host: string): string {
  return `${LARGE} at ${host}`
}

function hostKey(host: string): string {
  return `host ${host}`
}
