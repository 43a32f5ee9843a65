import { allows, coveredPaths } from '../repository/allowed-repositories.ts'
import { controlComponent } from '../repository/committed-path.ts'
import type { WrittenPath } from '../repository/committed-path.ts'
import type { Calls, Target } from '../repository/target.ts'
import { Failure } from '../failure.ts'
import type { LoginOf } from './login.ts'
import { apiLogin, passwordLogin } from './password-login.ts'
import type { UserAndToken } from './password-login.ts'

/** The operator's default credentials, for resources that name none, and where they may be used. */
export interface DefaultCredentials {
  /** Undefined: the usual one of the host. */
  readonly username: string | undefined
  /** Comma-separated, as in the annotation of a Secret; `{namespace}` as a whole segment is the resource's namespace. */
  readonly repositories: string
  /** Comma-separated path prefixes; undefined: every path except those that configure Git or the host. */
  readonly paths: string | undefined
}

/** What the default credentials are to be used for. */
export interface DefaultUse {
  readonly namespace: string
  readonly target: Target
  /** The paths that are written; none for a pull request. */
  readonly written: readonly WrittenPath[]
}

/** A whole segment, with or without `.git`: up to the next slash, comma, blank or the end. */
const PLACEHOLDER = /^\{namespace\}(?=(?:\.git)?\s*(?:,|$))/

/**
 * Throws ReferenceForbidden if the operator does not allow the default credentials for this repository, or to write
 * one of these paths, in this namespace.
 */
export function requireDefaultAllowed({ repositories, paths }: DefaultCredentials, use: DefaultUse): void {
  const { target, namespace, written } = use
  const list = ofNamespace(repositories, namespace)
  const refused = target.called.find((address) => !allows(list, address))
  if (refused !== undefined) {
    throw forbidden(
      `The operator's default credentials may not be used for ${refused.text} in the namespace ${namespace}`,
    )
  }
  const covered = coveredPaths(
    paths ?? '',
    written.map(({ path }) => path),
  )
  const mayWrite = ({ path }: WrittenPath): boolean =>
    paths === undefined ? controlComponent(path) === undefined : covered.has(path)
  const outside = written.find((one) => !mayWrite(one))
  if (outside !== undefined)
    throw forbidden(`The operator's default credentials may not write ${outside.field}`)
}

/**
 * The login with the operator's token; the caller has checked that it is allowed for the target. Fails with
 * CredentialsInvalid if the API does not accept the user name.
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
  const server = calls === 'api' ? `The API of ${address.host}` : address.host
  const message = `${server} does not accept the user name of the operator's default credentials (DEFAULT_GIT_USERNAME); name a Secret in spec.credentials, or ask your Commitlet operator.`
  return {
    username,
    token,
    // Not the name of a namespace: that has no space.
    source: ['the operator', 'default'],
    secrets: [token],
    refuse: () => new Failure('CredentialsInvalid', message),
  }
}

function forbidden(found: string): Failure {
  return new Failure(
    'ReferenceForbidden',
    `${found}; name a Secret in spec.credentials, or ask your Commitlet operator.`,
  )
}

/** Such a list for one namespace, which is a DNS label (RFC 1123): it contains no separator. */
export function ofNamespace(list: string, namespace: string): string {
  return list
    .split('/')
    .map((segment, index) => (index === 0 ? segment : segment.replace(PLACEHOLDER, () => namespace)))
    .join('/')
}

/** The operator's default credentials, and where their token is, or what asks for one. */
export interface DefaultConfig extends DefaultCredentials {
  readonly source: TokenSource | AppSource
}

/** The operator's GitHub App. */
export interface AppSource {
  readonly appID: string
  /** Undefined: the installation at the repository. */
  readonly installationID: string | undefined
  /** Path of the private key, which is read each time. */
  readonly keyFile: string
}

/** Where the operator's token is: given at the start, or in a file that is read each time. */
export type TokenSource = { readonly token: string } | { readonly file: string }
