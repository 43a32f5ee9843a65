/** Signs commits with one key. */
export interface Signer {
  /**
   * The armoured signature of a commit object without its header `gpgsig`, as lines with a line feed after each. The
   * same object has the same signature.
   * @throws Failure CredentialsInvalid if the key makes none that is right
   */
  sign(commit: Buffer): Promise<string>
  /**
   * Whether it would sign a commit of this date; left out: of any.
   * @throws Failure CredentialsInvalid if it would not
   */
  readonly requireValid?: (date: Date) => void
  /** Its signatures take the processor for long. Left out: they do not. */
  readonly isSlow?: boolean
  /** Its key is in a Secret of the resource's namespace. Left out: it is the operator's. */
  readonly ofSecret?: true
}

/**
 * A signer that remembers the last signature: a commit that is made again on the same tip is the same one, though ECDSA
 * signs with random numbers.
 */
export function rememberLast(signer: Signer): Signer {
  let last: { readonly commit: Buffer; readonly signature: Promise<string> } | undefined
  return {
    ...signer,
    sign(commit) {
      if (last?.commit.equals(commit) !== true) last = { commit, signature: signer.sign(commit) }
      return last.signature
    },
  }
}
