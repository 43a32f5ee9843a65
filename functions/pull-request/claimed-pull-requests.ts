import type { PullRequests } from '../domain/pull-request/pull-requests.ts'
import { confirmedInTime, type ClaimCheck } from '../domain/resource/claims.ts'

/**
 * The same pull requests, with the claim of the attempt confirmed before each write, so that one which was overtaken reads
 * nothing for it either. A write may make several requests: `inTurns` confirms it before each that changes something. Others may
 * wait for the turn of the token meanwhile, and do not wait long.
 * @throws Failure what `confirm` throws; nothing is written then
 */
export function claimedPullRequests(pullRequests: PullRequests, claim: ClaimCheck): PullRequests {
  const { confirm } = confirmedInTime(claim)
  return {
    find: (branches, among, keep) => pullRequests.find(branches, among, keep),
    read: (number, branches) => pullRequests.read(number, branches),
    async create(draft) {
      await confirm()
      return pullRequests.create(draft)
    },
    async update(shown, text) {
      await confirm()
      return pullRequests.update(shown, text)
    },
    async add(number, detail, names) {
      await confirm()
      return pullRequests.add(number, detail, names)
    },
  }
}
