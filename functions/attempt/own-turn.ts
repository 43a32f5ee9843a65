import type { Failure } from '../domain/failure.ts'
import type { Release } from '../domain/network/budget.ts'
import type { Turn, World } from '../world.ts'
import type { WaitingAttempt } from './waiting-attempt.ts'

/** A push for this branch that is about to begin may wait for the change, until the result is called. */
export function expectChange({ push }: WaitingAttempt, { expect }: World): Release {
  return push === undefined ? () => undefined : expect(push)
}

/** The turn of an attempt; undefined if the same resource already waits for one. `giveWay`: called where the attempt has to end. */
export function turnFor(
  { ref, share, heldBefore }: WaitingAttempt,
  { takeTurn }: World,
  giveWay: (because: Failure) => void,
): Promise<Turn | undefined> {
  const { kind, namespace, name, generation } = ref
  // Nobody else can take up what we have claimed: an event for it that waits as well does not count.
  const admitted = heldBefore !== undefined
  const own = admitted ? ` ${generation}` : ''
  return takeTurn(kind, { ...share, resource: `${kind} ${namespace}/${name}${own}`, admitted, giveWay })
}
