import { allows, allowsPath } from '../repository/allowed-repositories.ts'
import { controlComponent } from '../repository/committed-path.ts'
import type { Calls, Target } from '../repository/target.ts'
import { Failure } from '../failure.ts'
import type { LoginOf } from './login-for.ts'
import { apiLogin, passwordLogin } from './password-login.ts'
import type { UserAndToken } from './password-login.ts'

/** Credentials of the operator's, for resources that name none, and where they may go. */
export interface DefaultCredentials {
  /** Undefined: by the convention of the host. */
  readonly username: string | undefined
  /** Comma list as in the annotation of a Secret; `{namespace}` as a whole segment is the resource's namespace. */
  readonly repositories: string
  /** Comma list of path prefixes; undefined: every path but those that steer Git or the host. */
  readonly paths: string | undefined
}

/** What they are wanted for. */
export interface DefaultUse {
  readonly namespace: string
  readonly target: Target
  /** The path that is written; undefined where nothing is. */
  readonly path: string | undefined
}

/** A whole segment: up to the next slash, comma, blank or the end, `.git` aside. */
const PLACEHOLDER = /^\{namespace\}(?=(?:\.git)?\s*(?:,|$))/

/**
 * Throws ReferenceForbidden where the operator does not let the token go to this repository, or write this path, for
 * this namespace.
 */
export function requireDefaultAllowed({ repositories, paths }: DefaultCredentials, use: DefaultUse): void {
  const { target, namespace, path } = use
  const list = ofNamespace(repositories, namespace)
  const refused = target.called.find((address) => !allows(list, address))
  if (refused !== undefined) {
    throw forbidden(
      `The operator's default credentials may not go to ${refused.text} from the namespace ${namespace}`,
    )
  }
  if (path === undefined) return
  const covered = paths === undefined ? controlComponent(path) === undefined : allowsPath(paths, path)
  if (!covered) throw forbidden(`The operator's default credentials may not write spec.resourceRef.path`)
}

/**
 * The login by the operator's token, which has to be allowed to go there. Fails with CredentialsInvalid where the API
 * takes no such user name.
 */
export async function defaultLoginFor<C extends Calls>(
  calls: C,
  target: Target,
  given: Pick<DefaultCredentials, 'username'> & { readonly token: string },
): Promise<LoginOf[C]> {
  return MAKERS[calls](userAndTokenOf(given, target), target.host)
}

const MAKERS: {
  readonly [C in Calls]: (given: UserAndToken, host: Target['host']) => LoginOf[C] | Promise<LoginOf[C]>
} = { git: passwordLogin, api: apiLogin }

function userAndTokenOf(
  { username, token }: { readonly username: string | undefined; readonly token: string },
  { address, calls }: Target,
): UserAndToken {
  const taker = calls === 'api' ? `The API of ${address.host}` : address.host
  const message = `${taker} does not take the user name of the operator's default credentials (DEFAULT_GIT_USERNAME); name a Secret in spec.credentials, or ask whoever runs Commitlet.`
  return {
    username,
    token,
    // No namespace has a space in its name.
    source: ['the operator', 'default'],
    secrets: [token],
    refuse: () => new Failure('CredentialsInvalid', message),
  }
}

function forbidden(found: string): Failure {
  return new Failure(
    'ReferenceForbidden',
    `${found}; name a Secret in spec.credentials, or ask whoever runs Commitlet.`,
  )
}

// A namespace is a DNS label (RFC 1123): it cannot bring a separator along.
function ofNamespace(list: string, namespace: string): string {
  return list
    .split('/')
    .map((segment, index) => (index === 0 ? segment : segment.replace(PLACEHOLDER, () => namespace)))
    .join('/')
}

/** The operator's default credentials, with the place of the token. */
export interface DefaultConfig extends DefaultCredentials {
  readonly source: TokenSource
}

/** Where the operator's token is: given at the start, or in a file that is read each time. */
export type TokenSource = { readonly token: string } | { readonly file: string }
