import type { Authorised } from './authorise.ts'
import type { BoundCredentials, CredentialSource } from './credential-source.ts'
import { readDefault } from './read-default.ts'
import { writtenPaths } from '../domain/commit/written-paths.ts'
import type { TokenFor } from '../domain/credentials/app-login.ts'
import type { ApiLogin, Login } from '../domain/credentials/login.ts'
import { permitBy, requireOperatorAllows } from '../domain/pull-request/renamed-repository.ts'
import type { ApiCaller, Permit } from '../domain/pull-request/pull-requests.ts'
import type { SoundGitCommit, SoundResource } from '../domain/schema/parse.ts'
import { readSecretCredentials } from './read-secret.ts'
import type { Attempt, World } from '../world.ts'

/** The resource to log in for, and its requester. */
export interface LoggingIn<R extends SoundResource = SoundResource> {
  readonly resource: R
  readonly authorised: Authorised
  readonly signal: AbortSignal
  readonly saw: Attempt['saw']
  readonly stillThere: Attempt['stillThere']
}

/**
 * Makes the login for Git from the credentials of this source. Throws ReferenceForbidden if they may not be used for
 * this repository or may not write one of its paths, CredentialsInvalid if they cannot be used, and what reading the Secret
 * throws.
 */
export async function logIn(
  source: CredentialSource,
  request: LoggingIn<SoundGitCommit>,
  world: World,
): Promise<Login> {
  const { spec, target, metadata } = request.resource
  const credentials = await readCredentials(source, request, world)
  const requireAllowed = (): void => credentials.requireAllowed(target, writtenPaths(spec))
  await world.workFor(metadata.namespace, requireAllowed, request.signal)
  return credentials.loginFor('git', target)
}

/** The login for the API, and the check whether it may be used at the current location of a renamed repository. */
export interface ApiAccess {
  readonly login: ApiLogin
  readonly permit: Permit
  /** Of the login. */
  readonly issued: ApiLogin['issued']
}

/** Makes the login for the API of the repository's provider, always over HTTPS. Throws what `logIn` throws. */
export async function logInToAPI(
  source: CredentialSource,
  request: LoggingIn & Pick<ApiCaller, 'sent'>,
  world: World,
): Promise<ApiAccess> {
  const { resource, sent = [] } = request
  const { target } = resource
  const credentials = await readCredentials(source, request, world)
  credentials.requireAllowed(target, [])
  const login = await credentials.loginFor('api', target)
  // Only tokens: another value of the Secret may equal the owner's name.
  const permit = permitBy({ target, secrets: [...sent, login.secret] }, (moved) => {
    requireOperatorAllows(world.settings.allowedRepositories, moved)
    credentials.requireAllowed(moved, [])
  })
  return { login, permit, issued: login.issued }
}

async function readCredentials(
  source: CredentialSource,
  { resource, authorised, signal, saw, stillThere }: LoggingIn,
  { cluster, workFor, settings, appTokens }: World,
): Promise<BoundCredentials> {
  const { namespace } = resource.metadata
  const { kind, target } = resource
  const tokenFor: TokenFor = (use) => appTokens({ ...use, kind, namespace, signal })
  if (source.used === 'Default') return readDefault(namespace, { settings, tokenFor })
  const request = { namespace, authorised, target, signal, saw, stillThere }
  return readSecretCredentials(source, request, { cluster, workFor, settings, tokenFor })
}
