import { commitObject } from '../../functions/commit/commit-object.ts'
import type { Change, ChangeDraft, Landed } from '../../functions/domain/commit/change.ts'
import type { Login } from '../../functions/domain/credentials/login.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import type { RemoteSpec } from '../../functions/domain/spec/spec.ts'
import type { SoundGitCommit, SoundResource } from '../../functions/domain/schema/parse.ts'
import type { World } from '../../functions/world.ts'
import type { Site } from '../local/site.ts'
import type { Step } from '../terminal/steps.ts'
import { apiSteps } from './api-steps.ts'
import { watchTokens } from './app-step.ts'
import { referenceStep, secretStep } from './reading-steps.ts'
import { gitSteps, notReached } from './remote-steps.ts'
import { signingSteps } from './signing-step.ts'
import { walkPullRequest } from './walk-pull-request.ts'

/**
 * Goes through what an attempt does, with the attempt's own code and everything that writes left out: for the
 * credentials of the spec, and again for its fallback credentials.
 */
export async function walk(resource: SoundResource, site: Site): Promise<readonly Step[]> {
  const { fallbackCredentials: fallback } = resource.spec
  const signing = await signingSteps(resource, site.world, site.attempt(AGAIN))
  const first = [...signing, ...(await walkAlone(withCredentials(resource, resource.spec.credentials), site))]
  if (fallback === undefined) return first
  const second = await walkAlone(withCredentials(resource, fallback), site)
  return [...first, ...second.map((step) => ({ ...step, step: `fallback ${step.step}` }))]
}

/** The resource as if it named these credentials alone, and no key that signs. */
function withCredentials(
  resource: SoundResource,
  credentials: SoundResource['spec']['credentials'],
): SoundResource {
  const chosen = credentials === undefined ? {} : { credentials }
  if (resource.kind === 'GitCommit')
    return { ...resource, spec: { ...alone(resource.spec), ...chosen, signing: undefined } }
  return { ...resource, spec: { ...alone(resource.spec), ...chosen } }
}

function alone<S extends RemoteSpec>(spec: S): Omit<S, 'credentials' | 'fallbackCredentials'> {
  const { credentials, fallbackCredentials, ...rest } = spec
  return credentials === undefined && fallbackCredentials === undefined ? spec : rest
}

async function walkAlone(resource: SoundResource, site: Site): Promise<readonly Step[]> {
  const steps =
    resource.kind === 'GitCommit'
      ? await walkGitCommit(resource, site)
      : await walkPullRequest(resource, site)
  const isReached = steps.some(({ step, state }) => step === 'DNS' && state !== 'wrong')
  return isReached ? [...steps, ...(await apiSteps(resource, site))] : steps
}

/** An attempt that may find the commit of an earlier one goes to the remote even if its object cannot be read. */
const AGAIN = true

async function walkGitCommit(resource: SoundGitCommit, site: Site): Promise<readonly Step[]> {
  const attempt = site.attempt(AGAIN)
  let read: readonly string[] | undefined
  let remote: readonly Step[] | undefined
  let refused: Failure | undefined

  async function look(change: Change, login: Login): Promise<Landed> {
    const walked = await gitSteps(change, login, { site, signal: attempt.signal })
    remote = walked.steps
    refused = walked.failure
    if (refused !== undefined) throw refused
    return { outcome: 'unchanged', sha: '', branch: change.branch ?? '' }
  }

  const tokens = watchTokens(site.world)
  const world: World = {
    ...site.world,
    appTokens: tokens.appTokens,
    // Whether it has to be signed, the rules have shown; the operator's key is not on this machine.
    settings: { ...site.world.settings, requireSigning: undefined, defaultSigning: undefined },
    push(change, login) {
      read = change.files.map(({ path }) => path)
      return look(change, login)
    },
    async find(draft: ChangeDraft, login) {
      await look({ ...draft, files: [] }, login)
      return undefined
    },
  }
  const failure = await commitObject(resource, world, attempt).then(() => undefined, asFailure)
  const isOfSecret = remote === undefined && !tokens.ended(failure)
  const secret = secretStep(resource, isOfSecret ? failure : undefined)
  const reference = referenceStep(read, remote === undefined || failure === refused ? undefined : failure)
  const because = isOfSecret ? 'the Secret' : 'the App'
  return [reference, secret, ...tokens.steps(), ...(remote ?? [notReached('log-in', because)])]
}
