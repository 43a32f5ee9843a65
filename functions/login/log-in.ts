import type { Authorised } from './authorise.ts'
import type { BoundCredentials, CredentialSource } from './credential-source.ts'
import { readDefault } from './read-default.ts'
import type { ApiLogin, Login } from '../domain/credentials/login.ts'
import { permitBy, requireOperatorAllows } from '../domain/pull-request/renamed-repository.ts'
import type { Permit } from '../domain/pull-request/pull-requests.ts'
import type { SoundGitCommit, SoundPullRequest, SoundResource } from '../domain/schema/parse.ts'
import { readSecretCredentials } from './read-secret.ts'
import type { World } from '../world.ts'

/** For which resource, and in whose name. */
export interface LoggingIn<R extends SoundResource = SoundResource> {
  readonly resource: R
  readonly authorised: Authorised
  readonly signal: AbortSignal
}

/**
 * What Git needs to log in with the credentials of this source. Throws ReferenceForbidden where they may not go to this
 * repository, or write this path; CredentialsInvalid where they cannot be used; and what reading the Secret throws.
 */
export async function logIn(
  source: CredentialSource,
  request: LoggingIn<SoundGitCommit>,
  world: World,
): Promise<Login> {
  const { spec, target } = request.resource
  const credentials = await readCredentials(source, request, world)
  credentials.requireAllowed(target, spec.resourceRef.path)
  return credentials.loginFor('git', target)
}

/** What the API needs, and who decides whether it may go to where the repository is by now. */
export interface ApiAccess {
  readonly login: ApiLogin
  readonly permit: Permit
}

/** What the API of the repository's provider needs, over HTTPS whatever the address is. Throws the same. */
export async function logInToAPI(
  source: CredentialSource,
  request: LoggingIn<SoundPullRequest>,
  world: World,
): Promise<ApiAccess> {
  const { target } = request.resource
  const credentials = await readCredentials(source, request, world)
  credentials.requireAllowed(target, undefined)
  const login = await credentials.loginFor('api', target)
  // Of the other values of the Secret the owner's name may well be one.
  const permit = permitBy({ target, secrets: [login.secret] }, (moved) => {
    requireOperatorAllows(world.settings.allowedRepositories, moved)
    credentials.requireAllowed(moved, undefined)
  })
  return { login, permit }
}

async function readCredentials(
  source: CredentialSource,
  { resource, authorised, signal }: LoggingIn,
  world: World,
): Promise<BoundCredentials> {
  const { namespace } = resource.metadata
  if (source.used === 'Default') return readDefault(namespace, world)
  return readSecretCredentials(source, { namespace, authorised, target: resource.target, signal }, world)
}
