import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { Release } from '../../functions/domain/network/budget.ts'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { inTurns, reserveWithoutTurn } from '../../functions/pull-request/calls-in-turns.ts'
import { openOneCreation } from '../../functions/pull-request/one-creation.ts'
import { pacedClock } from '../harness/paced-clock.ts'
import { BRANCHES } from './called-host.ts'

const NEVER = new AbortController().signal
const BASE_URL = 'https://git.example.com/api/v1'
const DRAFT = { branches: BRANCHES, title: 'Settings', body: '', draft: false }
const CLAIM = { confirm: () => Promise.resolve(), remaining: () => Infinity }
const SHOWN = { number: 1, url: '', title: '', body: '', state: 'open' } as const

/** Milliseconds that a call takes at the repositories of most, and at large ones. */
const CALL_MS = 100
const LONG_CALL_MS = 3_000
const EVERY_MS = 5_000
/** By then it is known who takes much. */
const AFTER_MS = 10_000

/** Who opens a pull request, and where. */
interface Opening {
  readonly owner: string
  readonly token: string
  /** The branches of a repository. */
  readonly at: string
  readonly callMs: number
  /** Milliseconds until its answers may take the thread. */
  readonly reserveMs?: number
}

/** Searches and creations as at Gitea, on a clock of their own. */
function stage() {
  const { elapsed, wait, goOn } = pacedClock()
  const limits = makeApiLimits(elapsed)
  const withOneCreation = openOneCreation(elapsed)

  function open({ owner, token, at, callMs, reserveMs = 0 }: Opening): Promise<unknown> {
    const late = (cause: unknown): Failure => new Failure('Timeout', 'Late.', { cause })
    const counted = { baseURL: BASE_URL, username: undefined, secret: token }
    const release: Release = () => undefined
    const reserve = (): Release | Promise<Release> =>
      reserveMs === 0 ? release : wait(reserveMs).then(() => release)
    return limits.run(counted, { owner, signal: NEVER, late }, (turn) => {
      const fetch = inTurns(() => wait(callMs).then(() => new Response()), turn, CLAIM)
      const call = (method: string): Promise<unknown> => fetch(BASE_URL, { method, headers: {} })
      const pulls: PullRequests = {
        find: () => call('GET').then(() => []),
        read: () => call('GET').then(() => undefined),
        create: () =>
          call('GET')
            .then(() => call('POST'))
            .then(() => SHOWN),
        update: () => call('PATCH').then(() => undefined),
        add: () => call('POST').then(() => []),
      }
      const session = {
        ...{ key: at, ownKey: undefined, creationReplaces: false, owner, signal: NEVER, late, turn },
        reserve: reserveWithoutTurn(reserve, turn),
        confirm: CLAIM.confirm,
      }
      return withOneCreation(session, pulls, async (api) => {
        await api.find(BRANCHES, 'open')
        await api.create(DRAFT)
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
  return { again, goOn }
}

interface Took {
  /** With the token that ten namespaces share with them, of five that open one per 5 s. */
  readonly sharing: readonly number[]
  /** With a token of its own, of one that opens one per 5 s. */
  readonly own: readonly number[]
}

/** What openings take in five minutes, beside what ten namespaces with the shared token do. */
async function openingsBeside(openings: (n: number) => readonly Opening[]): Promise<Took> {
  const { again, goOn } = stage()
  for (let n = 0; n < 10; n += 1) for (const opening of openings(n)) again(opening)
  const own = again(
    { owner: 'own', token: 'own', at: 'own', callMs: CALL_MS },
    { afterMs: AFTER_MS, everyMs: EVERY_MS },
  )
  const sharing = Array.from({ length: 5 }, (_, n) => {
    const opening = { owner: `team-${n}`, token: 'shared', at: `team-${n}`, callMs: CALL_MS }
    return again(opening, { afterMs: AFTER_MS + n * 1_000, everyMs: EVERY_MS })
  })
  await goOn(300_000)
  return { sharing: sharing.flat(), own }
}

function part(times: readonly number[], percent: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? NaN
}

/** At large repositories of its own. */
function slow(n: number, at: string, more: Partial<Opening> = {}): Opening {
  return { owner: `evil-${n}`, token: 'shared', at: `${at}-${n}`, callMs: LONG_CALL_MS, ...more }
}

for (const { title, openings, most } of [
  {
    title: 'creations with calls of 3 s at ten namespaces do not come before those of who has taken less',
    openings: (n: number) => [slow(n, 'one'), slow(n, 'two')],
    most: 7_000,
  },
  {
    title:
      'creations that have waited for a share of the thread do not come before those of who has taken less',
    openings: (n: number) => ['one', 'two'].map((at) => slow(n, at, { reserveMs: 50 })),
    most: 7_000,
  },
  {
    title: 'of those for which others may wait with another token, one comes before them at a time',
    openings: (n: number) =>
      ['shared', 'shared', `evil-${n}`, `evil-${n}`].map((token) => slow(n, 'one', { token })),
    most: 15_000,
  },
])
  t.test(title, async (t) => {
    const { sharing } = await openingsBeside(openings)
    t.ok(sharing.length >= 250, String(sharing.length))
    // A turn ends every 3 s, or sooner.
    t.ok(part(sharing, 50) <= LONG_CALL_MS, String(part(sharing, 50)))
    t.ok(part(sharing, 90) <= 2 * LONG_CALL_MS, String(part(sharing, 90)))
    t.ok(part(sharing, 100) <= most, String(part(sharing, 100)))
  })

t.test(
  'creations with a token that is busy keep those of another token at the same branches from little',
  async (t) => {
    const named = (n: number): Opening => slow(n, 'two', { at: 'own', callMs: CALL_MS })
    const { own } = await openingsBeside((n) => [slow(n, 'one'), named(n)])
    t.ok(own.length >= 58, String(own.length))
    t.ok(part(own, 50) <= 4 * CALL_MS, String(part(own, 50)))
    t.ok(Math.max(...own) <= 2 * LONG_CALL_MS, String(Math.max(...own)))
  },
)
