import type { Failure } from '../failure.ts'
import type { FoundKey } from '../private-key/found-key.ts'
import { rememberLast, type Signer } from './signer.ts'
import { sshSignature } from './ssh-signature.ts'

/** What a key is to be used for. */
export interface KeyUse {
  /** The address in the commits; undefined: it is not compared. */
  readonly committer: string | undefined
  /** The failure for what is wrong with the key, as the rest of a sentence without its full stop. */
  readonly refuse: (complaint: string) => Failure
}

/** Longer comments are no addresses (RFC 5321, section 4.5.3.1). */
const LONGEST_ADDRESS = 320

/**
 * Signs with an SSH key that was found.
 * @throws Failure of `refuse` if it cannot be used, or its comment is an address and another than the committer's
 */
export function keySigner(found: FoundKey, { committer, refuse }: KeyUse): Signer {
  if ('complaint' in found) throw refuse(found.complaint)
  const owner = addressIn(found.comment ?? '')
  if (owner !== undefined && committer !== undefined && owner !== committer.toLowerCase())
    throw refuse(
      `belongs by its comment to another address than ${committer}, with which Commitlet commits (COMMIT_AUTHOR_EMAIL); take a key of that address, or change the comment (\`ssh-keygen -c -C "" -f FILE\`)`,
    )
  return rememberLast({
    sign: (commit) =>
      sshSignature(found.key, commit).catch(() => {
        // The message of OpenSSL may tell of the key.
        throw refuse('holds a private key whose signatures are wrong; create another one')
      }),
  })
}

/**
 * The address that a comment is, in small letters; undefined for another comment, such as the `user@machine` that
 * ssh-keygen writes: the domain of an address has a dot.
 */
function addressIn(comment: string): string | undefined {
  const text = comment.trim()
  const isAddress = text.length <= LONGEST_ADDRESS && /^[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+$/.test(text)
  return isAddress ? text.toLowerCase() : undefined
}
