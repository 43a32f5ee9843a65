/** What a key is to be used for. */
export interface KeyUse {
  /** The address in the commits; undefined: it is not compared. */
  readonly committer: string | undefined
  /** The error for what is wrong with the key, as the rest of a sentence without its full stop: for commits, a Failure. */
  readonly refuse: (complaint: string) => Error
}

/** A key that makes no signature that is right. */
export const WRONG = 'holds a private key whose signatures are wrong; create another one'

/** Longer texts are no addresses (RFC 5321, section 4.5.3.1). */
const LONGEST_ADDRESS = 320

/**
 * The address that a text is, in small letters; undefined for another text, such as the `user@machine` that ssh-keygen
 * writes as a comment: the domain of an address has a dot.
 */
export function addressIn(whole: string): string | undefined {
  const text = whole.trim()
  const isAddress = text.length <= LONGEST_ADDRESS && /^[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+$/.test(text)
  return isAddress ? text.toLowerCase() : undefined
}
