import { uidIn } from './marker.ts'
import type { Keep, ShownPullRequest } from './pull-requests.ts'

/** The one that a resource with this uid goes on with: its own one, open if there is one, else any open one. */
export function chosen(found: readonly ShownPullRequest[], uid: string): ShownPullRequest | undefined {
  const own = found.filter(({ body }) => uidIn(body) === uid)
  return own.find(isOpen) ?? own[0] ?? found.find(isOpen)
}

/** Keeps what `chosen` needs, three at most, and the newest one. */
export function keepFor(uid: string): Keep {
  return function keep(read) {
    const own = read.filter(({ body }) => uidIn(body) === uid)
    const kept = [own.find(isOpen), own[0], read.find(isOpen), read[0]]
    return read.filter((one) => kept.includes(one))
  }
}

/** Keeps all of them. */
export const keepAll: Keep = (read) => read

/** Whether it is open. */
export function isOpen({ state }: ShownPullRequest): boolean {
  return state === 'open'
}
