import type { Failure } from '../../functions/domain/failure.ts'
import type { SoundResource } from '../../functions/domain/schema/parse.ts'
import { SENT_NOWHERE } from '../local/connection.ts'
import { failed, type Step } from '../terminal/steps.ts'
import { notReached } from './remote-steps.ts'

/** The step of what a commit is made of. `paths`: of the files that could be made, if they could. */
export function referenceStep(paths: readonly string[] | undefined, failure: Failure | undefined): Step {
  const step = 'reference'
  if (failure !== undefined) return readingFailed(step, failure)
  if (paths === undefined) return notReached(step, 'the Secret')
  return { step, state: 'good', text: `What goes into ${paths.join(', ')} could be read.` }
}

/** The step of the credentials; `failure`: before anything was called. */
export function secretStep({ spec }: Pick<SoundResource, 'spec'>, failure: Failure | undefined): Step {
  const step = failure?.reason === 'HostKeyUnknown' ? 'trust' : 'Secret'
  if (failure !== undefined) return readingFailed(step, failure)
  const name = spec.credentials?.secretName
  const text =
    name === undefined
      ? 'The default credentials of this environment may be used for this repository.'
      : `The Secret ${name} may be used for this repository, and holds what its address needs.`
  return { step, state: 'good', text }
}

const UNREAD =
  'You may not read this yourself, so it stays unseen, with everything that depends on it; the function reads it with a right of its own.'

/** A failed reading: wrong, unless it is you who may not read. */
export function readingFailed(step: string, failure: Failure): Step {
  if (!failure.accountRefused) return failed(step, failure)
  const text = failure.message === SENT_NOWHERE ? SENT_NOWHERE : UNREAD
  return { step, state: 'unseen', text, needed: true }
}
