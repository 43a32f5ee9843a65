import type { Calls, Target } from '../repository/target.ts'
import type { Credentials } from '../resource/resource.ts'
import { keyLogin } from './key-login.ts'
import type { ApiLogin, Login } from './login.ts'
import { apiLogin, passwordLogin, userAndTokenIn } from './password-login.ts'
import type { SecretData } from './secret-keys.ts'

/** What a login is made for. */
export interface LoginUse {
  readonly target: Target
  /** Which keys of the Secret are named. */
  readonly credentials: Credentials
  /** Text of SSH_KNOWN_HOSTS, where there is one. */
  readonly operatorHostKeys: string | undefined
}

/** What each of them logs in with. */
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
 * The login that a Secret, which has to be allowed to go there, makes for Git or for the API. Fails with
 * CredentialsInvalid where the type is not one of ours, or a key is missing or cannot be used; with HostKeyUnknown where
 * nobody has said which key the host of an SSH address has.
 */
export async function loginFor<C extends Calls>(
  calls: C,
  use: LoginUse,
  secret: SecretData,
): Promise<LoginOf[C]> {
  return MAKERS[calls](use, secret)
}
