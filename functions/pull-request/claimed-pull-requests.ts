import type { PullRequests } from '../domain/pull-request/pull-requests.ts'
import type { ClaimCheck } from '../domain/resource/claims.ts'

/**
 * The same pull requests, with the claim of the attempt confirmed before each write, so that one which was overtaken reads
 * nothing for it either. A write may make several requests: `inTurns` confirms it before each that changes something.
 * @throws Failure what `confirm` throws; nothing is written then
 */
export function claimedPullRequests(pullRequests: PullRequests, claim: ClaimCheck): PullRequests {
  return {
    find: (branches, among, keep) => pullRequests.find(branches, among, keep),
    read: (number, branches) => pullRequests.read(number, branches),
    async create(draft) {
      await claim.confirm()
      return pullRequests.create(draft)
    },
    async update(shown, text) {
      await claim.confirm()
      return pullRequests.update(shown, text)
    },
    async add(number, detail, names) {
      await claim.confirm()
      return pullRequests.add(number, detail, names)
    },
  }
}
