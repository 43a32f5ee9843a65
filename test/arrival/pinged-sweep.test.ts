import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import { makePingedSweep } from '../../functions/arrival/pinged-sweep.ts'
import type { SweepIntervals } from '../../functions/arrival/pinged-sweep.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import type { StoredResource } from '../harness/paging-server.ts'
import { pagingServer, pendingIn } from '../harness/paging-server.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const INTERVALS = { unsettled: MINUTE, full: 5 * MINUTE, followers: 0 }

/** Sweeps of an API server's stand-in; `time` is set by the test. */
function stage(resources: readonly StoredResource[], intervals: SweepIntervals = INTERVALS) {
  const api = pagingServer()
  api.store(resources)
  const clock = { time: 0 }
  const begun: string[] = []
  const sweep = makePingedSweep(
    {
      cluster: connectCluster(api.server),
      log: pino({ level: 'silent' }),
      elapsed: () => clock.time,
      wait: (milliseconds, signal) => pause(milliseconds / 100, undefined, { signal }),
    },
    intervals,
  )
  const begin = ({ namespace, name }: ObjectRef): boolean => begun.push(`${namespace}/${name}`) > 0
  return { api, clock, begun, begin, sweep }
}

const CHANGED = {
  kind: 'GitCommit',
  namespace: 'shop',
  name: 'lost',
  phase: 'Succeeded',
  observed: 0,
} as const
const SETTLED = { ...CHANGED, name: 'settled', observed: 1 } as const
const EARLY = {
  ...CHANGED,
  name: 'early',
  phase: 'Retrying',
  observed: 1,
  nextAttemptTime: new Date(Date.now() + HOUR).toISOString(),
} as const

t.test('a ping finds what is due, and what has changed without an event', async (t) => {
  const { begun, begin, sweep } = stage([...pendingIn('shop', 2), CHANGED, SETTLED, EARLY])
  await sweep(begin)
  t.strictSame(new Set(begun), new Set(['shop/r-0', 'shop/r-1', 'shop/lost']))
})

t.test('each sort of sweep is made once in its interval, whoever asks', async (t) => {
  const { api, clock, begin, sweep } = stage([])
  const pages = async (): Promise<number> => {
    const before = api.asked.pages
    await Promise.all([sweep(begin), sweep(begin), sweep(begin)])
    return api.asked.pages - before
  }
  const [due, all] = [2, 2]
  t.equal(await pages(), due + all, 'one list of each kind for each sweep')
  t.equal(await pages(), 0)
  clock.time += MINUTE - 1
  t.equal(await pages(), 0)
  clock.time += 1
  t.equal(await pages(), due)
  clock.time += 5 * MINUTE
  t.equal(await pages(), due + all)
})

t.test('an interval of 0 turns its sort off', async (t) => {
  const { api, begin, sweep } = stage(pendingIn('shop', 1), { unsettled: 0, full: 0, followers: 0 })
  await sweep(begin)
  t.equal(api.asked.pages, 0)
})

t.test(
  'what finds no place waits for one; a tenant with many does not take the places of others',
  async (t) => {
    const resources = [...pendingIn('aaa', 3_000), ...pendingIn('shop', 3)]
    const { begun, sweep } = stage(resources, { ...INTERVALS, full: 0 })
    let free = 0
    const refill = setInterval(() => (free = 500), 1)
    t.teardown(() => clearInterval(refill))
    await sweep((ref) => {
      free -= 1
      return free >= 0 && begun.push(ref.namespace) > 0
    })
    t.equal(begun.filter((namespace) => namespace === 'shop').length, 3)
    t.equal(begun.filter((namespace) => namespace === 'aaa').length, 1_000, 'the next sweep finds the others')
  },
)

t.test('what finds no place within 30 s is left to the next sweep', async (t) => {
  const { sweep, clock, begun, begin } = stage(pendingIn('shop', 1))
  await sweep(() => {
    clock.time += 30_000
    return false
  })
  clock.time += MINUTE
  await sweep(begin)
  t.strictSame(begun, ['shop/r-0'])
})

t.test(
  'what finds no place does not hold up the next sweep, whichever sorts of sweep have found it',
  async (t) => {
    const followers = pendingIn('shop', 3).map((one) => ({ ...one, name: `f-${one.name}`, phase: 'Succeeded' as const, observed: 1, reason: 'Succeeded', follows: '1m' })) // prettier-ignore
    const api = pagingServer()
    api.store([...pendingIn('shop', 3), CHANGED, ...followers])
    const clock = { time: 0 }
    const waits: { readonly until: number; readonly over: () => void }[] = []
    const sweep = makePingedSweep(
      {
        cluster: connectCluster(api.server),
        log: pino({ level: 'silent' }),
        elapsed: () => clock.time,
        wait: (ms) => new Promise<void>((over) => waits.push({ until: clock.time + ms, over })),
      },
      { unsettled: 30_000, full: 300_000, followers: 30_000 },
    )
    const end = new AbortController()
    const tried = new Set<string>()
    void sweep(({ name }) => {
      tried.add(name)
      return false
    }).then(() => end.abort())
    while (!end.signal.aborted) {
      await nextTurn()
      const [next] = waits.sort((a, b) => a.until - b.until).splice(0, 1)
      if (next === undefined) continue
      clock.time = next.until
      next.over()
    }
    t.strictSame(tried, new Set(['r-0', 'lost', 'f-r-0']), 'the first of each sort')
    t.ok(clock.time < 30_000, `over after ${clock.time} ms`)
  },
)

t.test('an API server that does not answer ends the sweep without an error', async (t) => {
  const { api, sweep, begin } = stage([])
  api.fault = () => Promise.resolve({ status: 500, text: '{}' })
  await t.resolves(sweep(begin))
})

t.test('a ping finds followers whose interval is over, also where the pod has just started', async (t) => {
  const minutely = { ...SETTLED, reason: 'Succeeded', follows: '1m' } as const
  const resources = [
    { ...minutely, name: 'follower' },
    { ...minutely, name: 'failed', phase: 'Failed', reason: 'ReferenceForbidden' } as const,
    SETTLED,
  ]
  const { api, clock, begun, begin, sweep } = stage(resources, { unsettled: 0, full: 0, followers: MINUTE })
  await sweep(begin)
  t.strictSame(begun, ['shop/follower'])
  await sweep(begin)
  t.equal(api.asked.pages, 1)
  clock.time += MINUTE
  await sweep(begin)
  t.equal(api.asked.pages, 2)
})
