import { writtenReferences } from '../domain/commit/references.ts'
import type { Failure } from '../domain/failure.ts'
import type { Release } from '../domain/network/budget.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import type { Turn, World } from '../world.ts'
import type { Claimable, Newer } from './claim.ts'

/** A push for this branch that is about to begin may wait for the change, until the result is called. */
export function expectChange({ envelope, parsed }: Claimable, { expect }: World): Release {
  if (envelope.kind !== 'GitCommit' || !parsed.sound || parsed.kind !== 'GitCommit') return () => undefined
  const { namespace } = envelope.metadata
  return expect({ repository: parsed.target.address, branch: parsed.spec.branch, namespace })
}

/** The turn of an attempt; undefined if the same resource already waits for one. `giveWay`: called where the attempt has to end. */
export function turnFor(
  { newer: { envelope, parsed }, heldBefore }: Newer,
  { takeTurn }: World,
  giveWay: (because: Failure) => void,
): Promise<Turn | undefined> {
  const { kind, metadata } = envelope
  const host = parsed.target?.address.host ?? ''
  const { namespace, name, generation } = metadata
  // Nobody else can take up what we have claimed: an event for it that waits as well does not count.
  const admitted = heldBefore !== undefined
  const own = admitted ? ` ${generation}` : ''
  const resource = `${kind} ${namespace}/${name}${own}`
  return takeTurn(kind, { namespace, host, resource, admitted, objects: objectsOf(parsed), giveWay })
}

function objectsOf(parsed: Parsed): number {
  return parsed.sound && parsed.kind === 'GitCommit' ? writtenReferences(parsed.spec).length : 1
}
