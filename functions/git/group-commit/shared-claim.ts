import { confirmedInTime, type ClaimCheck } from '../../domain/resource/claims.ts'

/** Where a change waits for its push. */
export interface SharedPush {
  /** Whether other namespaces push with it, or wait for the end of its push. */
  readonly isShared: () => boolean
  /** Whether it was in a push that others may have overtaken, since it was last asked: it is confirmed afresh. */
  readonly isLate: () => boolean
  /** Told when its claim was not confirmed there. */
  readonly failed: () => void
}

/**
 * The claim of a change. In a push that namespaces share, others wait for a moment until it is confirmed, and then go on
 * without it: how long its writes take is for its namespace alone to say (../../cluster/calls/large-writes.ts).
 */
export function sharedClaim(claim: ClaimCheck, { isShared, isLate, failed }: SharedPush): ClaimCheck {
  const inTime = confirmedInTime(claim)
  return {
    remaining: claim.remaining,
    async confirm(asked) {
      const afresh = isLate() || asked
      if (!isShared()) return claim.confirm(afresh)
      try {
        await inTime.confirm(afresh)
      } catch (error) {
        failed()
        throw error
      }
    },
  }
}
