import { parseRepositoryAddress, parseSegments } from '../../domain/repository/address.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { MOVED_LINE } from '../../domain/repository/moved-words.ts'
import { Failure } from '../../domain/failure.ts'
import { holdsSecret, redact } from '../../domain/redact.ts'
import { looksLikeCredential } from '../../domain/credential-text.ts'
import type { ErrorContext } from './error-meaning.ts'

/** What the text of a remote says about a repository that has moved. */
export interface Moved {
  /** Where to: an address that can be shown; undefined if the host names none that can be. */
  readonly address: string | undefined
}

/** Most characters of the remote's text that are searched. */
const SEARCHED = 65_536
/** Most characters after the word "moved" in which the new address is sought. */
const NEAR = 1_000

/**
 * Whether the remote's text says that the repository has moved. Hosts say so and follow the rename by themselves, so
 * that what is fetched or pushed is not the repository of the address. `words` has no `remote:` before its lines.
 * Engines call this with everything that a remote prints, after each exchange, whether it succeeded or not. What a push has
 * brought makes none of it count less: nothing that Commitlet commits says so (moved-words.ts), and nobody should be able to
 * make others believe that a repository is where it was.
 */
export function readMoved(words: string, context: Pick<ErrorContext, 'url' | 'secrets'>): Moved | undefined {
  const searched = words.slice(0, SEARCHED)
  const found = MOVED_LINE.exec(searched)
  if (found === null) return undefined
  return { address: addressIn(searched.slice(found.index, found.index + NEAR), context) }
}

/** The address of the repository to which an HTTP redirect of Git's first request leads; undefined: it names none. */
export function redirectAddress(
  location: string | undefined,
  context: Pick<ErrorContext, 'url' | 'secrets'>,
): string | undefined {
  const url = URL.parse(location ?? '', context.url)
  const [, path] = /^(.*)\/(?:info\/refs|git-(?:upload|receive)-pack)$/.exec(url?.pathname ?? '') ?? []
  return url === null || path === undefined ? undefined : shown(`${url.origin}${path}`, context)
}

/**
 * The failure of an attempt at a repository that has moved. After a push it is final, and other credentials are not
 * tried: the next attempt would find the commit where the host has put it, and call that a success.
 */
export function movedFailure({ address }: Moved, { url }: ErrorContext, after: 'reading' | 'push'): Failure {
  const where = address === undefined ? 'to another address, which its host does not name' : `to ${address}`
  const done =
    after === 'push' ? ', and its host may have written the commit there; check that repository, and' : ';'
  return new Failure(
    'RepositoryNotFound',
    `${url} has moved ${where}${done} put the new address into spec.repository, if its commits may go there.`,
    { fallback: false, ...(after === 'push' ? { retry: 'never' } : {}) },
  )
}

function addressIn(text: string, context: Pick<ErrorContext, 'url' | 'secrets'>): string | undefined {
  const words = text.split(/[\s'"<>]+/).map((word) => word.replace(/[.,:;!)]+$/, ''))
  const address = words.find((word) => /^(?:https:\/\/|ssh:\/\/|[\w.+-]+@)/.test(word))
  if (address !== undefined) return shown(address, context)
  const [, path = ''] = /\bto:?\s+['"]?([^\s'"<>/]+\/[^\s'"<>]+)/.exec(text) ?? []
  const own = parsed(context.url)
  return own === undefined ? undefined : shown(withPath(own, path.replace(/[.,:;!)]+$/, '')), context)
}

// Only an address is repeated of the remote's text, and of an address nothing that may be a secret.
function shown(text: string, context: Pick<ErrorContext, 'url' | 'secrets'>): string | undefined {
  const { secrets, url } = context
  const address = parsed(text)
  if (address === undefined || address.scheme === 'http' || text === url) return undefined
  if (holdsSecret(text, secrets) || looksLikeCredential(text)) return undefined
  return redact(text, secrets) === text ? text : undefined
}

function parsed(text: string): RepositoryAddress | undefined {
  try {
    return parseRepositoryAddress(text)
  } catch {
    return undefined
  }
}

function withPath({ text, segments }: RepositoryAddress, path: string): string {
  const end = text.endsWith('.git') ? '.git' : ''
  const start = text.slice(0, text.length - end.length - segments.join('/').length)
  return parseSegments(path) === undefined ? '' : `${start}${path.replace(/\.git$/, '')}${end}`
}
