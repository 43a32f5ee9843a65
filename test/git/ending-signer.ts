import type { NewCommit } from '../../functions/git/remote.ts'

/** One who signs commits, during whose first signature the session has to end. */
export interface EndingSigner {
  readonly signer: NonNullable<NewCommit['signer']>
  /** Of the session. */
  readonly signal: AbortSignal
  /** How many it has signed. */
  readonly count: () => number
}

export function endingSigner(): EndingSigner {
  const over = new AbortController()
  let signed = 0
  async function sign(): Promise<string> {
    signed += 1
    over.abort()
    return 'signature'
  }
  return { signer: { sign }, signal: over.signal, count: () => signed }
}
