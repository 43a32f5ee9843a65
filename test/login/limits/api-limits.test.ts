import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { makeApiLimits } from '../../../functions/login/limits/api-limits.ts'
import { inTurns } from '../../../functions/pull-request/calls-in-turns.ts'

const NEVER = new AbortController().signal
/** How long the API takes for a call. */
const CALL_MS = 300
const COUNTED = { baseURL: 'https://git.example.com/api/v1', username: undefined, secret: 'shared' }

/** A clock on which nothing passes but what is waited for: it goes on once nobody has anything to do. */
function virtualClock() {
  const due: { readonly at: number; readonly wake: () => void }[] = []
  let now = 0
  return {
    elapsed: () => now,
    wait: (ms: number) =>
      new Promise<void>((resolve) => {
        due.push({ at: now + ms, wake: resolve })
        due.sort((one, other) => one.at - other.at)
      }),
    runUntil: async (end: number): Promise<void> => {
      await setImmediate()
      for (let next = due.shift(); next !== undefined && next.at <= end; next = due.shift()) {
        now = next.at
        next.wake()
        await setImmediate()
      }
    },
  }
}

/** Of ten names that Gitea does not know, each is tried after all of them together were refused. */
const REVIEWERS = ['GET', 'GET', 'POST', ...Array.from({ length: 10 }, () => 'POST')]
const ASSIGNEES = ['GET', 'PATCH', ...Array.from({ length: 10 }, () => 'PATCH')]
const WITH_UNKNOWN_NAMES = ['GET', 'GET', 'POST', ...REVIEWERS, ...ASSIGNEES]
const CREATION = ['GET', 'GET', 'POST', 'POST']

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? NaN
}

/** Five minutes, in which four namespaces open a pull request every twelve seconds each. */
const END_MS = 300_000
const PAUSE_MS = 12_000

/**
 * Sessions with one token on a virtual clock: of so many namespaces with four pull requests each that name people whom the host does
 * not know, again and again, and of four that open some. How many milliseconds each of these took.
 */
async function openingsAmid(hostile: number): Promise<readonly number[]> {
  const { elapsed, wait, runUntil } = virtualClock()
  const limits = makeApiLimits(elapsed)
  const claim = { confirm: () => Promise.resolve(), remaining: () => Infinity }

  function session(owner: string, methods: readonly string[]): Promise<void> {
    const caller = {
      owner,
      signal: NEVER,
      late: (cause: unknown) => new Failure('Timeout', 'Late.', { cause }),
    }
    return limits.run(COUNTED, caller, async (turn) => {
      const call = inTurns(() => wait(CALL_MS).then(() => new Response()), turn, claim)
      for (const [index, method] of methods.entries()) {
        // As between the names of people that are tried one by one.
        if (method === 'PATCH' && methods[index - 1] === 'PATCH' && (await turn.pass()))
          await call(COUNTED.baseURL, { method: 'GET', headers: {} })
        await call(COUNTED.baseURL, { method, headers: {} })
      }
    })
  }

  async function again(owner: string): Promise<never> {
    for (;;) await session(owner, WITH_UNKNOWN_NAMES)
  }

  const took: number[] = []
  async function open(owner: string, afterMs: number): Promise<never> {
    await wait(afterMs)
    for (;;) {
      const began = elapsed()
      await session(owner, CREATION)
      took.push(elapsed() - began)
      await wait(Math.max(0, began + PAUSE_MS - elapsed()))
    }
  }

  for (let n = 0; n < hostile * 4; n += 1) void again(`hostile-${n % hostile}`)
  for (let n = 0; n < 4; n += 1) void open(`honest-${n}`, 5_000 + (n * PAUSE_MS) / 4)
  await runUntil(END_MS)
  return took
}
t.test(
  'pull requests of those who share a token with ten namespaces that always call are opened as without them',
  async (t) => {
    const calm = await openingsAmid(0)
    t.equal(median(calm), CREATION.length * CALL_MS)
    const took = await openingsAmid(10)
    t.equal(took.length, calm.length)
    t.ok(median(took) <= 1.5 * median(calm), String(median(took)))
    // Eleven calls without passing the turn on are 3.3 s, and one of each of the ten at two places 1.5 s.
    t.ok(Math.max(...took) <= 2 * median(calm), String(Math.max(...took)))
  },
)
