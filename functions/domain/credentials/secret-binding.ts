import { DEFAULT_PORTS, writeAuthority } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import {
  allows,
  coveredPaths,
  ENTRY_FORM,
  sshUserOf,
  unsoundEntry,
  unsoundPrefix,
} from '../repository/allowed-repositories.ts'
import { controlComponent } from '../repository/committed-path.ts'
import type { WrittenPath } from '../repository/committed-path.ts'
import { Failure } from '../failure.ts'
import { ALLOWED_PATHS, ALLOWED_REPOSITORIES } from '../resource/api-names.ts'
import { displayName } from '../requester/user-info.ts'
import { withoutUser } from '../redact.ts'

/** A Secret with the annotations that restrict where it may be used. */
export interface BoundSecret {
  readonly namespace: string
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
}

/** How the user may use the Secret; if they may not read it, also their user name, for messages. */
export type SecretUser = { readonly right: 'get' } | { readonly right: 'use'; readonly username: string }

/**
 * Throws ReferenceForbidden if this user must not use this Secret for this repository: its annotation
 * `commitlet.dev/allowed-repositories` does not cover the repository, or there is none and the user may not read the
 * Secret. A user who may not read it learns no more than one who may not use it.
 */
export function requireRepositoryAllowed(
  secret: BoundSecret,
  address: RepositoryAddress,
  user: SecretUser,
): void {
  const list = secret.annotations[ALLOWED_REPOSITORIES]
  if (list === undefined ? user.right === 'get' : allows(list, address)) return
  if (user.right === 'use') throw unboundSecret(secret, user.username)
  const unsound = unsoundEntry(beginningOf(list ?? ''))
  const malformed =
    unsound === undefined || unsound === '' ? '' : `, where "${shownEntry(unsound)}" is not ${ENTRY_FORM}`
  throw new Failure(
    'ReferenceForbidden',
    `The Secret ${secret.namespace}/${secret.name} does not allow ${address.text}; add ${entryFor(address)} to its annotation ${ALLOWED_REPOSITORIES}${malformed}.`,
  )
}

/**
 * Throws ReferenceForbidden if a path must not be written with this Secret: its annotation
 * `commitlet.dev/allowed-paths` does not cover it, or there is none and the path is that of a file that configures Git
 * or the host.
 */
export function requirePathsAllowed(written: readonly WrittenPath[], secret: BoundSecret): void {
  const list = secret.annotations[ALLOWED_PATHS]
  const paths = written.map(({ path }) => path)
  const covered = list === undefined ? new Set<string>() : coveredPaths(list, paths)
  for (const one of written) if (!covered.has(one.path)) requireUnlisted(one, secret)
}

/** Throws unless there is no list, and the path needs none. */
function requireUnlisted({ field, path }: WrittenPath, secret: BoundSecret): void {
  const list = secret.annotations[ALLOWED_PATHS]
  const control = controlComponent(path)
  if (list === undefined && control === undefined) return
  const found =
    control === undefined
      ? `${field} is not below a path that this Secret may write`
      : `${field} has the part "${control}", which configures Git or the host`
  const unsound = unsoundPrefix(beginningOf(list ?? ''))
  const malformed =
    unsound === undefined || unsound === ''
      ? ''
      : `, where "${shownEntry(unsound)}" is not a path in a repository`
  throw new Failure(
    'ReferenceForbidden',
    `${found}; choose another path, or add it to the annotation ${ALLOWED_PATHS} of the Secret ${secret.namespace}/${secret.name}${malformed}.`,
  )
}

/**
 * The message for a user who may not read the Secret. It does not reveal whether the Secret is forbidden, missing or
 * not bound to this repository.
 */
export function unusableSecret(secret: Pick<BoundSecret, 'namespace' | 'name'>, username: string): string {
  return (
    `The Secret ${secret.name} in the namespace ${secret.namespace} is not one that ${displayName(username)} may ` +
    '`get`, or may `use` for this repository (`use` counts only while the annotation ' +
    `${ALLOWED_REPOSITORIES} of the Secret covers it); ask the owner of the Secret, or name another one.`
  )
}

/** The same for a user who may `use` the Secret; retried slowly, because its owner can fix the annotation. */
export function unboundSecret(secret: Pick<BoundSecret, 'namespace' | 'name'>, username: string): Failure {
  return new Failure('ReferenceForbidden', unusableSecret(secret, username), { retry: 'slow' })
}

/** Characters of a list in which a message names a mistake: an annotation may have 262,144. */
const EXAMINED = 16_384

function beginningOf(list: string): string {
  return list.length <= EXAMINED ? list : list.slice(0, Math.max(0, list.lastIndexOf(',', EXAMINED)))
}

function shownEntry(entry: string): string {
  return withoutUser(entry)
    .replace(/\p{Cc}/gu, '?')
    .slice(0, 100)
}

/** The address as an entry of the annotation: without the scheme, its default port and the host's usual user. */
function entryFor(address: RepositoryAddress): string {
  const { user, host, scheme, segments } = address
  const login = user === undefined || user === sshUserOf(host) ? '' : `${user}@`
  return `${login}${writeAuthority(address, DEFAULT_PORTS[scheme])}/${segments.join('/')}`
}
