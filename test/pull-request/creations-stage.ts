import { Failure } from '../../functions/domain/failure.ts'
import type { Release } from '../../functions/domain/network/budget.ts'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { inTurns, reserveWithoutTurn } from '../../functions/pull-request/calls-in-turns.ts'
import { openOneCreation } from '../../functions/pull-request/one-creation.ts'
import { pacedClock } from '../harness/paced-clock.ts'
import { BRANCHES } from './called-host.ts'

export const NEVER = new AbortController().signal
const BASE_URL = 'https://git.example.com/api/v1'
export const DRAFT = { branches: BRANCHES, title: 'Settings', body: '', draft: false }
const CLAIM = { confirm: () => Promise.resolve(), remaining: () => Infinity }
export const SHOWN = { number: 1, url: '', title: '', body: '', state: 'open' } as const

/** Milliseconds that a call takes at the repositories of most. */
export const CALL_MS = 100

/** Who opens a pull request, and where. */
export interface Opening {
  readonly owner: string
  readonly token: string
  /** The branches of a repository. */
  readonly at: string
  readonly callMs: number
  /** Milliseconds until its answers may take the thread. */
  readonly reserveMs?: number
  /** Only where none is open; the host would create another one. */
  readonly isOnce?: boolean
  readonly signal?: AbortSignal
}

/** Searches and creations as at Gitea, on a clock of their own. */
export function stage() {
  const { elapsed, wait, goOn } = pacedClock()
  const limits = makeApiLimits(elapsed, wait)
  const calls = { now: 0, most: 0 }
  /** How many pull requests were created, by where. */
  const created = new Map<string, number>()
  const withOneCreation = openOneCreation(elapsed, wait)

  function open({
    owner,
    token,
    at,
    callMs,
    reserveMs = 0,
    isOnce = false,
    signal = NEVER,
  }: Opening): Promise<unknown> {
    const late = (cause: unknown): Failure => new Failure('Timeout', 'Late.', { cause })
    const counted = { baseURL: BASE_URL, username: undefined, secret: token }
    const release: Release = () => undefined
    const reserve = (): Release | Promise<Release> =>
      reserveMs === 0 ? release : wait(reserveMs).then(() => release)
    return limits.run(counted, { owner, signal, late }, (turn) => {
      const send = async (): Promise<Response> => {
        calls.now += 1
        calls.most = Math.max(calls.most, calls.now)
        await wait(callMs)
        calls.now -= 1
        return new Response()
      }
      const fetch = inTurns(send, turn, CLAIM)
      const call = (method: string): Promise<unknown> => fetch(BASE_URL, { method, headers: {} })
      const pulls: PullRequests = {
        find: () => call('GET').then(() => (isOnce && created.has(at) ? [SHOWN] : [])),
        read: () => call('GET').then(() => undefined),
        create: () =>
          call('GET')
            .then(() => call('POST'))
            .then(() => {
              created.set(at, (created.get(at) ?? 0) + 1)
              return SHOWN
            }),
        update: () => call('PATCH').then(() => undefined),
        add: () => call('POST').then(() => []),
      }
      const session = {
        ...{ key: at, ownKey: undefined, creationReplaces: false, owner, signal, late, turn },
        reserve: reserveWithoutTurn(reserve, turn),
        confirm: CLAIM.confirm,
      }
      return withOneCreation(session, pulls, async (api) => {
        const [other] = await api.find(BRANCHES, 'open')
        if (other !== undefined || (await api.create(DRAFT)) === 'exists') return
        await api.add(1, 'labels', ['settings'])
      })
    })
  }

  /** Again and again, one begun so long after the other or at the end of that; what each took, in milliseconds. */
  function again(opening: Opening, { afterMs = 0, everyMs = 0 } = {}): readonly number[] {
    const took: number[] = []
    async function openAll(): Promise<never> {
      await wait(afterMs)
      for (;;) {
        const began = elapsed()
        await open(opening)
        took.push(elapsed() - began)
        await wait(Math.max(1, began + everyMs - elapsed()))
      }
    }
    void openAll()
    return took
  }
  return { open, again, wait, goOn, calls, created }
}

/** A percentile. */
export function part(times: readonly number[], percent: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? NaN
}
