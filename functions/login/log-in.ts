import type { Authorised } from './authorise.ts'
import type { DefaultConfig } from '../domain/credentials/default-credentials.ts'
import { readToken } from './default-token.ts'
import { parseRepositoryAddress } from '../domain/repository/address.ts'
import type { RepositoryAddress } from '../domain/repository/address.ts'
import { apiLogin } from '../domain/credentials/api-login.ts'
import type { ApiLogin } from '../domain/credentials/api-login.ts'
import { repositoryAt } from '../domain/repository/api-endpoint.ts'
import type { Login } from '../domain/credentials/login.ts'
import { passwordLogin } from '../domain/credentials/password-login.ts'
import { defaultApiLogin, defaultLogin } from '../domain/credentials/default-credentials.ts'
import { Failure } from '../domain/failure.ts'
import { keyLogin } from '../domain/credentials/key-login.ts'
import { permitBy, requireOperatorAllows } from '../domain/pull-request/renamed-repository.ts'
import type { Permit } from '../domain/pull-request/pull-requests.ts'
import type {
  Credentials,
  GitCommit,
  PullRequest,
  RemoteSpec,
  Resource,
} from '../domain/resource/resource.ts'
import { requirePathAllowed } from '../domain/credentials/secret-binding.ts'
import { readSecret, requireSecretAllowed } from './read-secret.ts'
import type { World } from '../world.ts'

/** A way to log in: by one of the spec's two Secrets, or by the operator's default. */
export type LoginWay =
  | { readonly used: 'Default' }
  | {
      readonly used: 'Primary' | 'Fallback'
      readonly field: 'spec.credentials' | 'spec.fallbackCredentials'
      readonly credentials: Credentials
    }

/** For which resource, and in whose name. */
export interface LoggingIn {
  readonly resource: Resource
  readonly authorised: Authorised
  readonly signal: AbortSignal
}

/** The ways that a spec names, in their order: the second is gone where the credentials of the first fail. */
export function waysOf({
  credentials,
  fallbackCredentials,
}: RemoteSpec): readonly [LoginWay] | readonly [LoginWay, LoginWay] {
  if (credentials === undefined) return [{ used: 'Default' }]
  const primary = { used: 'Primary', field: 'spec.credentials', credentials } as const
  if (fallbackCredentials === undefined) return [primary]
  return [primary, { used: 'Fallback', field: 'spec.fallbackCredentials', credentials: fallbackCredentials }]
}

/**
 * What Git needs to log in this way. Throws ReferenceForbidden where the credentials may not go to this repository,
 * or write this path; CredentialsInvalid where they cannot be used; and what reading the Secret throws.
 */
export async function logIn(
  way: LoginWay,
  request: LoggingIn & { readonly resource: GitCommit },
  world: World,
): Promise<Login> {
  const { spec } = request.resource
  const { path } = spec.resourceRef
  const use = { address: parseRepositoryAddress(spec.repository), provider: spec.provider }
  if (way.used === 'Default') {
    const { token, defaults, namespace } = readDefault(request, world)
    return defaultLogin(token, defaults, { ...use, namespace, path })
  }
  const secret = await readSecret(way, { ...request, address: use.address }, world)
  requirePathAllowed(path, secret)
  const { credentials } = way
  if (use.address.scheme === 'ssh')
    return keyLogin({ ...use, credentials }, secret, world.settings.knownHosts)
  return passwordLogin({ ...use, credentials }, secret)
}

/** What the API needs, and who decides whether it may go to where the repository is by now. */
export interface ApiAccess {
  readonly login: ApiLogin
  readonly permit: Permit
}

/** What the API of the repository's provider needs, over HTTPS whatever the address is. Throws the same. */
export async function logInToAPI(
  way: LoginWay,
  request: LoggingIn & { readonly resource: PullRequest },
  world: World,
): Promise<ApiAccess> {
  const { spec } = request.resource
  const address = parseRepositoryAddress(spec.repository)
  const use = { address, provider: spec.provider }
  if (way.used === 'Default') {
    const { token, defaults, namespace } = readDefault(request, world)
    const bound = { ...use, namespace, path: undefined }
    const login = defaultApiLogin(token, defaults, bound)
    return accessBy(login, (moved) => void defaultApiLogin(token, defaults, { ...bound, address: moved }))
  }
  const secret = await readSecret(way, { ...request, address }, world)
  const login = apiLogin({ ...use, credentials: way.credentials }, secret)
  return accessBy(login, (moved) => requireSecretAllowed(secret, way, { ...request, address: moved }))

  function accessBy(login: ApiLogin, requireAllowed: (address: RepositoryAddress) => void): ApiAccess {
    const repository = repositoryAt(address, spec.providerConfig?.baseURL)
    // Of the other values of the Secret the owner's name may well be one.
    const permit = permitBy({ address, repository, secrets: [login.secret] }, (moved) => {
      requireOperatorAllows(world.settings.allowedRepositories, moved)
      requireAllowed(moved)
    })
    return { login, permit }
  }
}

interface OperatorDefault {
  readonly token: string
  readonly defaults: DefaultConfig
  readonly namespace: string
}

function readDefault({ resource }: LoggingIn, { settings }: World): OperatorDefault {
  const { defaults } = settings
  if (defaults === undefined) throw noDefault()
  return { token: readToken(defaults.source), defaults, namespace: resource.metadata.namespace }
}

function noDefault(): Failure {
  return new Failure(
    'CredentialsInvalid',
    'spec.credentials is missing, and the operator has set no default credentials (DEFAULT_GIT_TOKEN); name a Secret there.',
  )
}
