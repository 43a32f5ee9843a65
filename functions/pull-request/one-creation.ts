import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../domain/failure.ts'
import type { Release } from '../domain/network/budget.ts'
import { keepFor } from '../domain/pull-request/choice.ts'
import type {
  CreatedPullRequest,
  PullRequestDraft,
  PullRequests,
} from '../domain/pull-request/pull-requests.ts'
import { openFairQueue, type FairQueue } from '../domain/sharing/fair-queue.ts'
import type { HeldTurn } from '../domain/sharing/keyed-turns.ts'
import { countExcess, type Counting } from '../domain/sharing/taken-time.ts'

/** A session with an API in which a pull request may be created. */
export interface CreatingSession {
  /** Equal for the same branches of the same repository, as far as its address tells. */
  readonly key: string
  /** Asks for that key under which others know the same place; undefined: `key` is it. */
  readonly ownKey: (() => Promise<string>) | undefined
  /** The host changes an open one without an error. */
  readonly creationReplaces: boolean
  readonly owner: string
  readonly signal: AbortSignal
  /** What is thrown if the signal fires while it waits. */
  readonly late: (reason: unknown) => Failure
  /** That of the token. */
  readonly turn: HeldTurn
  /** Waits, before others wait for a change, until its answers may take the thread. The result ends that. */
  readonly reserve: () => Promise<Release>
  /** That of the caller's claim. */
  readonly confirm: () => Promise<void>
}

/** Calls `work` with the same pull requests, of which one is created at a time. */
export type OneCreation = <T>(
  session: CreatingSession,
  pullRequests: PullRequests,
  work: (pullRequests: PullRequests) => Promise<T>,
) => Promise<T>

/**
 * A creation takes a few calls, and is rare: of one second two minutes tell. Owners who try again and again come after one who does
 * not, wherever they did, so that it waits for one of them and not for one of each.
 */
const COUNTED: Counting = { perSecond: 5, same: 250, most: 60_000 }

/**
 * For how long a place is kept while the turn of the token is waited for, in milliseconds: the first one, and those after it. Who has
 * taken the first for so long comes after others, and a turn that is lent comes within the second (api-limits.ts).
 */
const PATIENCE_MS = 1_000
const LATER_PATIENCE_MS = 2_000

interface Place {
  readonly queue: FairQueue
  sessions: number
  /** How many creations have ended. */
  created: number
}

/**
 * For the same branches of the same repository one pull request is created at a time, in fair turns of the owners, whatever
 * their logins: anybody may name a branch. Only the creation is kept from others, not the search before it or the details
 * after it; where somebody else's creation has ended since the session began, or the host would change what is open, it is
 * searched for again, after all waits. Who waits leaves the turn of its token to others, and whoever is next gets one before
 * them, as one of its token at a time. Where it does not come soon, the place is left to others: so they wait little for
 * another's token. `elapsed`: milliseconds of a clock that is never set.
 */
export function openOneCreation(
  elapsed: () => number = () => performance.now(),
  wait: (milliseconds: number) => Promise<unknown> = (milliseconds) =>
    pause(milliseconds, undefined, { ref: false }),
): OneCreation {
  const places = new Map<string, Place>()
  const taken = countExcess(COUNTED, elapsed)

  async function at<T>(key: string, work: (place: Place) => Promise<T>): Promise<T> {
    const place = places.get(key) ?? {
      queue: openFairQueue(1, { elapsed, taken }),
      sessions: 0,
      created: 0,
    }
    places.set(key, place)
    place.sessions += 1
    try {
      return await work(place)
    } finally {
      place.sessions -= 1
      if (place.sessions === 0) places.delete(key)
    }
  }

  return function withOneCreation(session, pullRequests, work) {
    const { key, ownKey } = session
    return at(key, (place) => {
      const alone = creatingAlone(session, pullRequests, { place, known: place.created, wait })
      if (ownKey === undefined) return work(alone)
      return work({ ...alone, create: (draft) => createAtOwn(ownKey, draft) })
    })

    async function createAtOwn(askKey: () => Promise<string>, draft: PullRequestDraft) {
      return at(await askKey(), (place) =>
        creatingAlone(session, pullRequests, { place, known: undefined, wait }).create(draft),
      )
    }
  }
}

interface Seen {
  readonly place: Place
  /** How many creations had ended there when it was searched; undefined: nobody knows. */
  known: number | undefined
  readonly wait: (milliseconds: number) => Promise<unknown>
}

function creatingAlone(session: CreatingSession, pullRequests: PullRequests, seen: Seen): PullRequests {
  const { creationReplaces, owner, signal, late, turn, reserve, confirm } = session
  const { place, wait } = seen
  const { queue } = place

  async function create(draft: PullRequestDraft): Promise<CreatedPullRequest | 'exists'> {
    if (creationReplaces || place.created !== seen.known) {
      seen.known = place.created
      const [other] = await pullRequests.find(draft.branches, 'open', keepFor(''))
      if (other !== undefined) return 'exists'
    }
    // Also one without an answer, which may have been created.
    return pullRequests.create(draft).finally(() => (seen.known = place.created += 1))
  }

  function enter(): Promise<Release> {
    return queue.enter(owner, signal).catch((reason: unknown) => {
      throw reason instanceof Failure ? reason : late(reason)
    })
  }

  /** Waits for the place without the turn, and then for the turn: while that takes long, others have the place. Has both in the end. */
  async function enterWithoutTurn(): Promise<Release> {
    for (let patience = PATIENCE_MS; ; patience = LATER_PATIENCE_MS) {
      turn.leave()
      const release = await enter()
      const back = turn.comeBack()
      const isBack = Promise.race([back.then(() => true), wait(patience).then(() => false)])
      if (await isBack.catch(() => false)) return release
      release()
      await back
      if (queue.hasRoom()) return enter()
    }
  }

  async function createInTurn(draft: PullRequestDraft): Promise<CreatedPullRequest | 'exists'> {
    const mustWait = !queue.hasRoom()
    const release = mustWait ? await enterWithoutTurn() : await enter()
    try {
      // Where an open one is looked for again, the write of a claim comes before that, and not after it.
      if (mustWait || creationReplaces) await confirm()
      return await turn.keep(() => create(draft))
    } finally {
      release()
    }
  }

  async function withReserved<T>(work: () => Promise<T>): Promise<T> {
    const release = await reserve()
    return work().finally(release)
  }

  return {
    find: (branches, among, keep) => pullRequests.find(branches, among, keep),
    read: (number, branches) => pullRequests.read(number, branches),
    create: (draft) => withReserved(() => createInTurn(draft)),
    // Some hosts have it read again first, and take all of it.
    update: (shown, text) => withReserved(() => turn.keep(() => pullRequests.update(shown, text))),
    add: (number, detail, names) => pullRequests.add(number, detail, names),
  }
}
