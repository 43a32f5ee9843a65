import type { RememberedTips } from '../../../functions/git/direct/remembered-tips.ts'

const nothing = (): undefined => undefined

/** Remembers nothing of a repository. */
export const NO_TIPS: RememberedTips = {
  get: nothing,
  latest: nothing,
  set: nothing,
  forget: nothing,
  getHead: nothing,
  setHead: nothing,
}
