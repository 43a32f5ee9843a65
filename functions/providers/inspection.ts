import type { ApiAnswer } from './api-answer.ts'
import type { ApiLogin } from '../domain/credentials/login.ts'
import type { Endpoint } from '../domain/pull-request/pull-requests.ts'

/** What a host reports of a login and of a repository. Nothing in it is a secret. */
export interface Inspection {
  /** The user of the login, as the host names them; undefined: the host does not tell. */
  readonly user: string | undefined
  /** The scopes of the token, as the host names them; undefined: the host does not tell. */
  readonly scopes: readonly string[] | undefined
  /** When the token ends, RFC 3339 or a date; undefined: the host does not tell. */
  readonly expires: string | undefined
  /** How many repositories the token of an App is for; left out: it is no such token. */
  readonly issuedFor?: number | undefined
  /** Whether the login may push to the repository, apart from the rules of a branch; undefined: the host does not tell. */
  readonly mayPush: boolean | undefined
  /** The repository takes no changes. */
  readonly archived: boolean
  readonly branches: readonly InspectedBranch[]
}

/** A branch as its host reports it. */
export interface InspectedBranch {
  readonly name: string
  readonly exists: boolean
  /** Whether rules of the host protect it; undefined: the host does not tell. */
  readonly isProtected: boolean | undefined
  /** Whether these rules let the login push to it; undefined: the host does not tell. */
  readonly mayPush: boolean | undefined
}

/**
 * Asks the host about the login, the repository and these branches, with requests that change nothing.
 * @throws Failure AuthenticationFailed, PermissionDenied, RepositoryNotFound, and those of the network
 */
export type Inspect = (
  endpoint: Endpoint,
  login: ApiLogin,
  branches: readonly string[],
) => Promise<Inspection>

/** The branches, one request for each; `failure` is thrown for an answer that says neither yes nor no. */
export async function inspectBranches(
  names: readonly string[],
  ask: (name: string) => Promise<ApiAnswer>,
  { read, failure }: BranchReading,
): Promise<readonly InspectedBranch[]> {
  const found: InspectedBranch[] = []
  for (const name of names) {
    const answer = await ask(name)
    if (answer.status === 200) found.push({ name, exists: true, ...read(answer.data) })
    else if (answer.status === 404)
      found.push({ name, exists: false, isProtected: undefined, mayPush: undefined })
    else throw failure(answer)
  }
  return found
}

/** How the answers of a host are read. */
export interface BranchReading {
  readonly read: (branch: unknown) => Pick<InspectedBranch, 'isProtected' | 'mayPush'>
  readonly failure: (answer: ApiAnswer) => Error
}

/** A member that is true or false; undefined for everything else. */
export function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

const WORD = /^[\w.:@+*-]{1,100}$/

/** The words of a list in one header, separated by commas or blanks; undefined: there is no such header. */
export function wordsOf(header: string | null): readonly string[] | undefined {
  return header === null ? undefined : shownWords(header.split(/[\s,]+/))
}

/** Those that can be shown: names of scopes, as hosts write them. */
export function shownWords(words: readonly unknown[]): readonly string[] {
  return words.filter((word): word is string => typeof word === 'string' && WORD.test(word))
}

/** The name of a user as far as it can be shown; undefined for everything else. */
export function shownName(value: unknown): string | undefined {
  return typeof value === 'string' && /^[^\p{C}]{1,100}$/u.test(value) ? value : undefined
}

/** A date, with a time or without, as RFC 3339 writes it; undefined for everything else. */
export function shownDate(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d(?:T[\d:.]{8,15}(?:Z|[+-]\d\d:\d\d))?$/.test(value)
    ? value
    : undefined
}
