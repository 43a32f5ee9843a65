import type { Calls, Target } from '../repository/target.ts'
import type { Credentials } from '../resource/resource.ts'
import { keyLogin } from './key-login.ts'
import type { ApiLogin, Login } from './login.ts'
import { apiLogin, passwordLogin, userAndTokenIn } from './password-login.ts'
import type { SecretData } from './secret-keys.ts'

/** What a login is made for. */
export interface LoginUse {
  readonly target: Target
  /** Names the keys of the Secret. */
  readonly credentials: Credentials
  /** Content of the file SSH_KNOWN_HOSTS, if there is one. */
  readonly operatorHostKeys: string | undefined
}

/** The login for each kind of call. */
export interface LoginOf {
  readonly git: Login
  readonly api: ApiLogin
}

type Maker<C extends Calls> = (use: LoginUse, secret: SecretData) => LoginOf[C] | Promise<LoginOf[C]>

const MAKERS: { readonly [C in Calls]: Maker<C> } = {
  git({ target, credentials, operatorHostKeys }, secret) {
    const { address, host } = target
    if (address.scheme === 'ssh') return keyLogin({ credentials, address, operatorHostKeys }, secret)
    return passwordLogin(userAndTokenIn(secret, credentials), host)
  },
  api({ target, credentials }, secret) {
    return apiLogin(userAndTokenIn(secret, credentials, 'the API of a provider'), target.host)
  },
}

/**
 * The login for Git or for the API from a Secret; the caller has checked that the Secret is allowed for the target.
 * Fails with CredentialsInvalid if the type is not supported, or a key is missing or cannot be used; with HostKeyUnknown
 * if there is no host key for the host of an SSH address.
 */
export async function loginFor<C extends Calls>(
  calls: C,
  use: LoginUse,
  secret: SecretData,
): Promise<LoginOf[C]> {
  return MAKERS[calls](use, secret)
}
