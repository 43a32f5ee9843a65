import { asFailure, Failure } from '../../functions/domain/failure.ts'
import type { Destination } from '../../functions/domain/network/route.ts'
import { DEFAULT_PORTS, unbracketed } from '../../functions/domain/repository/address.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import type { SoundResource } from '../../functions/domain/schema/parse.ts'
import { authorise } from '../../functions/login/authorise.ts'
import { sourcesOf } from '../../functions/login/credential-source.ts'
import { logInToAPI } from '../../functions/login/log-in.ts'
import type { Site } from '../local/site.ts'
import { withoutPromise, type Step } from '../terminal/steps.ts'
import { tokenSteps, type BranchUse } from './token-steps.ts'

/** What the API of the host tells about the credentials of the spec, where they are good for it. */
export async function apiSteps(resource: SoundResource, site: Site): Promise<readonly Step[]> {
  const { spec, target: of } = resource
  const hints = { provider: spec.provider, baseURL: spec.providerConfig?.baseURL }
  const target = targetOf('PullRequest', of.address, hints)
  const { host, baseURL, repository } = target
  if (host === undefined || baseURL === undefined) {
    const text = `The software of ${of.address.host} is not known, so its API was not asked about the token; spec.provider and spec.providerConfig.baseURL name it.`
    return [{ step: 'token', state: 'unseen', text }]
  }
  const { signal, saw, stillThere } = site.attempt(false)
  const [source] = sourcesOf(spec)
  const access = await authorise(resource, site.world, signal)
    .then((authorised) =>
      logInToAPI(
        source,
        { resource: { ...resource, target }, authorised, signal, saw, stillThere },
        site.world,
      ),
    )
    .catch(asFailure)
  if (access instanceof Failure)
    return [
      {
        step: 'token',
        state: 'unseen',
        text: `The API of ${host.name} was not asked: ${withoutPromise(access.message)}`,
      },
    ]
  const { login, permit } = access
  const asked = { endpoint: { host, baseURL, repository }, shown: spec.repository, login, permit }
  return tokenSteps({ ...asked, branches: branchesOf(resource) }, site, signal)
}

function branchesOf(resource: SoundResource): Readonly<Record<string, BranchUse>> {
  if (resource.kind === 'GitCommit') {
    const { branch } = resource.spec
    return branch === undefined ? {} : { [branch]: 'written' }
  }
  const { baseBranch, headBranch } = resource.spec
  // The branch of a fork is in another repository.
  return { [baseBranch]: 'base', ...(headBranch.includes(':') ? {} : { [headBranch]: 'head' }) }
}

/** The host of an API. */
export function destinationOf(baseURL: string): Destination {
  const { protocol, hostname, port } = new URL(baseURL)
  const scheme = protocol === 'http:' ? 'http' : 'https'
  return { scheme, host: unbracketed(hostname), port: port === '' ? DEFAULT_PORTS[scheme] : Number(port) }
}
