import { createHash } from 'node:crypto'
import type { RepositoryAddress } from '../repository/address.ts'
import { allows, allowsPath } from '../repository/allowed-repositories.ts'
import { usernameComplaint } from './api-login.ts'
import type { ApiLogin } from './api-login.ts'
import { calledAddresses } from '../repository/api-endpoint.ts'
import type { PasswordLogin } from './login.ts'
import { controlComponent } from '../repository/committed-path.ts'
import { Failure } from '../failure.ts'
import { apiUsername, gitUsername, hostOf } from '../repository/hosts.ts'

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
  readonly address: RepositoryAddress
  readonly provider: string | undefined
  /** The path that is written; undefined where nothing is. */
  readonly path: string | undefined
}

/** A whole segment: up to the next slash, comma, blank or the end, `.git` aside. */
const PLACEHOLDER = /^\{namespace\}(?=(?:\.git)?\s*(?:,|$))/

/**
 * The login by the operator's token. Throws ReferenceForbidden where the operator does not let it go to this
 * repository, or write this path, for this namespace.
 */
export function defaultLogin(token: string, given: DefaultCredentials, use: DefaultUse): PasswordLogin {
  requireCovered(given, use)
  const username = gitUsername(given.username, hostOf(use.address, use.provider))
  return {
    method: 'password',
    username,
    password: token,
    identity: identityOf(['default', username, token]),
    secrets: [token],
  }
}

/**
 * The same for the API of the repository's provider. Throws CredentialsInvalid besides where that takes no such user
 * name.
 */
export function defaultApiLogin(token: string, given: DefaultCredentials, use: DefaultUse): ApiLogin {
  for (const address of calledAddresses('PullRequest', use.address))
    requireCovered(given, { ...use, address })
  const username = apiUsername(given.username)
  if (usernameComplaint(username, hostOf(use.address, use.provider)) !== undefined) {
    const message = `The API of ${use.address.host} does not take the user name of the operator's default credentials (DEFAULT_GIT_USERNAME); name a Secret in spec.credentials, or ask whoever runs Commitlet.`
    throw new Failure('CredentialsInvalid', message)
  }
  return {
    username,
    secret: token,
    identity: identityOf(['default API', username ?? '', token]),
    secrets: username === undefined ? [token] : [token, `${username}:${token}`],
  }
}

function identityOf(values: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex')
}

function requireCovered({ repositories, paths }: DefaultCredentials, use: DefaultUse): void {
  const { address, namespace, path } = use
  if (!allows(ofNamespace(repositories, namespace), address)) {
    throw forbidden(
      `The operator's default credentials may not go to ${address.text} from the namespace ${namespace}`,
    )
  }
  if (path === undefined) return
  const covered = paths === undefined ? controlComponent(path) === undefined : allowsPath(paths, path)
  if (!covered) throw forbidden(`The operator's default credentials may not write spec.resourceRef.path`)
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
