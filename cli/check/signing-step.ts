import { asFailure } from '../../functions/domain/failure.ts'
import type { Target } from '../../functions/domain/repository/target.ts'
import type { SoundResource } from '../../functions/domain/schema/parse.ts'
import { authorise } from '../../functions/login/authorise.ts'
import { openSigner } from '../../functions/login/open-signer.ts'
import type { Attempt, World } from '../../functions/world.ts'
import type { Step } from '../terminal/steps.ts'
import { readingFailed } from './reading-steps.ts'

/** Whether the key that the spec names can sign the commit now; no step where it names none. Signs nothing. */
export async function signingSteps(
  resource: SoundResource,
  world: Pick<World, 'cluster' | 'settings' | 'now' | 'workFor'>,
  { signal, saw, stillThere }: Pick<Attempt, 'signal' | 'saw' | 'stillThere'>,
): Promise<readonly Step[]> {
  const step = 'signing'
  if (resource.kind !== 'GitCommit') return []
  if (resource.spec.commitVia === 'API') return [signedByHost(step, resource.target)]
  if (resource.spec.signing === undefined) return []
  try {
    const authorised = await authorise(resource, world, signal)
    const opened = await openSigner({ resource, authorised, signal, saw, stillThere }, world)
    opened?.signer.requireValid?.(world.now())
    const text = `The Secret ${resource.spec.signing.secretName} holds a key that can sign the commit.`
    return [{ step, state: 'good', text }]
  } catch (error) {
    return [readingFailed(step, asFailure(error))]
  }
}

/** A server of one's own does not tell by its API whether it signs. */
function signedByHost(step: string, { publicAPI }: Target): Step {
  if (publicAPI !== undefined)
    return { step, state: 'good', text: 'The API of the host makes the commit, and the host signs it.' }
  const text =
    'The API of the host makes the commit. A GitHub Enterprise Server signs it only if its administrator has set that up.'
  return { step, state: 'unseen', text }
}
