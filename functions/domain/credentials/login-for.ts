import type { Calls, Target } from '../repository/target.ts'
import type { Credentials } from '../spec/spec.ts'
import { appIn } from './app.ts'
import { appLoginFor } from './app-login.ts'
import type { TokenFor } from './app-login.ts'
import { keyLogin } from './key-login.ts'
import type { LoginOf } from './login.ts'
import { apiLogin, passwordLogin, userAndTokenIn } from './password-login.ts'
import type { SecretData } from './secret-keys.ts'

/** What a login is made for. */
export interface LoginUse {
  readonly target: Target
  /** Names the keys of the Secret. */
  readonly credentials: Credentials
  /** Content of the file SSH_KNOWN_HOSTS, if there is one. */
  readonly operatorHostKeys: string | undefined
  /** Asks the host for the token of an App. */
  readonly tokenFor: TokenFor
}

type Maker<C extends Calls> = (use: LoginUse, secret: SecretData) => LoginOf[C]

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
 * if there is no host key for the host of an SSH address; and, if they name an App, with what `tokenFor` fails with.
 */
export async function loginFor<C extends Calls>(
  calls: C,
  use: LoginUse,
  secret: SecretData,
): Promise<LoginOf[C]> {
  const { credentials, target, tokenFor } = use
  if (credentials.appIDKey === undefined) return MAKERS[calls](use, secret)
  return appLoginFor(calls, { app: appIn(secret, credentials), target }, tokenFor)
}
