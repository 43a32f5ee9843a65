import type { Authorised } from './authorise.ts'
import { readToken } from './default-token.ts'
import { parseRepositoryAddress } from './domain/address.ts'
import type { Login } from './domain/change.ts'
import { passwordLogin } from './domain/credentials.ts'
import { defaultLogin } from './domain/default-credentials.ts'
import { Failure } from './domain/failure.ts'
import { keyLogin } from './domain/key-login.ts'
import type { Credentials, RemoteSpec, Resource } from './domain/resources.ts'
import { requirePathAllowed } from './domain/secret-binding.ts'
import { readSecret } from './read-secret.ts'
import type { World } from './world.ts'

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
export async function logIn(way: LoginWay, request: LoggingIn, world: World): Promise<Login> {
  const { resource } = request
  const { repository, provider } = resource.spec
  const address = parseRepositoryAddress(repository)
  const path = resource.kind === 'GitCommit' ? resource.spec.resourceRef.path : undefined
  if (way.used === 'Default') {
    const { namespace } = resource.metadata
    const { defaults } = world.settings
    if (defaults === undefined) throw noDefault()
    return defaultLogin(readToken(defaults.source), defaults, { namespace, address, provider, path })
  }
  const secret = await readSecret(way, { ...request, address }, world)
  if (path !== undefined) requirePathAllowed(path, secret)
  const { credentials } = way
  if (address.scheme === 'ssh')
    return keyLogin({ credentials, address, provider }, secret, world.settings.knownHosts)
  return passwordLogin({ credentials, address, provider }, secret)
}

function noDefault(): Failure {
  return new Failure(
    'CredentialsInvalid',
    'spec.credentials is missing, and the operator has set no default credentials (DEFAULT_GIT_TOKEN); name a Secret there.',
  )
}
