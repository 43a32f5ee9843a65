import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { accessReviews } from '../../functions/cluster/access-review.ts'
import { AT_ONCE } from '../../functions/cluster/calls/attempt-turns.ts'
import type { ApiCall } from '../../functions/cluster/calls/exchange.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { Access } from '../../functions/domain/gate/access.ts'
import { shareSlowCalls, SLOW_AT_ONCE } from '../../functions/cluster/calls/slow-calls.ts'
import { DEVELOPER, recorder, SECRET } from './review-stage.ts'

/** The nth access: all different. */
function nth(index: number): Access {
  return { ...SECRET, name: `git-${index}` }
}

async function settle(): Promise<void> {
  for (let times = 0; times < 20; times += 1) await setImmediate()
}

/** Whether a review is about a namespace that nobody has. */
function isForAnybody({ body }: ApiCall): boolean {
  return JSON.stringify(body).includes('"namespace":"commitlet-')
}

/** A cluster whose API server answers one review after the other, and the names that it was asked about. */
function stage() {
  const open: (() => void)[] = []
  const recorded = recorder()
  const asked: string[] = []
  const cluster = connectCluster(async (call) => {
    const [, name] = /"name":"([^"]*)"/.exec(JSON.stringify(call.body ?? {})) ?? []
    asked.push(name ?? call.path)
    await new Promise<void>((resolve) => open.push(resolve))
    return recorded.server(call)
  })
  async function answerOne(): Promise<void> {
    open.shift()?.()
    await settle()
  }
  return { cluster, asked, answerOne }
}

t.test('of all attempts, eight reviews are asked for at once, in turns of the namespaces', async (t) => {
  const { cluster, asked, answerOne } = stage()
  const all = Array.from({ length: 100 }, (_, i) =>
    cluster.reviewAccess(DEVELOPER, nth(i), { namespace: `busy-${i % 10}` }),
  )
  await settle()
  t.equal(asked.length, AT_ONCE)
  const other = cluster.reviewAccess(DEVELOPER, SECRET, { namespace: 'other' })
  for (let answered = 1; answered <= 11; answered += 1) await answerOne()
  t.ok(asked.includes('git'), 'another namespace waits for one of each')
  while (asked.length < 101) await answerOne()
  for (let answered = 0; answered < AT_ONCE; answered += 1) await answerOne()
  t.ok((await Promise.all([...all, other])).every(Boolean))
})

t.test('a review for no resource, as at apply, does not wait for those of attempts', async (t) => {
  const { cluster, asked } = stage()
  for (let i = 0; i < 20; i += 1) void cluster.reviewAccess(DEVELOPER, nth(i), { namespace: 'busy' })
  await settle()
  void cluster.reviewAccess(DEVELOPER, SECRET)
  t.equal(asked.at(-1), 'git')
})

t.test('kinds are looked up in the same way, eight groups at once', async (t) => {
  const { cluster, asked, answerOne } = stage()
  const all = Array.from({ length: 100 }, (_, i) =>
    cluster.discover(`g${i}.example.com/v1`, 'Shelf', { namespace: `busy-${i % 10}` }),
  )
  await settle()
  t.equal(asked.length, AT_ONCE)
  const other = cluster.discover('v1', 'ConfigMap', { namespace: 'other' })
  for (let answered = 1; answered <= 11; answered += 1) await answerOne()
  t.ok(asked.includes('/api/v1'), 'another namespace waits for one of each')
  void Promise.allSettled([...all, other])
})

t.test('whoever looks up a kind does not wait for the turn of others that look up the same', async (t) => {
  const { cluster, asked, answerOne } = stage()
  const groups = [...Array.from({ length: 100 }, (_, i) => `g${i}.example.com/v1`), 'v1']
  const busy = groups.map((group) => cluster.discover(group, 'ConfigMap', { namespace: 'busy' }))
  await settle()
  const other = cluster.discover('v1', 'ConfigMap', { namespace: 'other' })
  for (let answered = 1; answered <= 2; answered += 1) await answerOne()
  t.ok(asked.includes('/api/v1'))
  while (asked.length < groups.length) await answerOne()
  for (let answered = 0; answered < AT_ONCE; answered += 1) await answerOne()
  await Promise.allSettled([...busy, other])
  t.equal(asked.length, groups.length, 'and what was asked for meanwhile is not asked for again')
})

t.test(
  'of namespaces whose reviews are slow, one is asked for at once, and others do not wait',
  async (t) => {
    let time = 0
    const open: (() => void)[] = []
    const recorded = recorder()
    const elapsed = (): number => time
    const rests = { elapsed, wait: () => Promise.resolve() }
    const reviewAccess = accessReviews(
      async (call) => {
        if (!isForAnybody(call)) await new Promise<void>((resolve) => open.push(resolve))
        return recorded.server(call)
      },
      elapsed,
      { slowly: shareSlowCalls(rests) },
    )
    async function answerAll(milliseconds: number): Promise<void> {
      time += milliseconds
      for (const answer of open.splice(0)) answer()
      await settle()
    }
    const quick = reviewAccess(DEVELOPER, nth(1_000), { namespace: 'quick' })
    await settle()
    await answerAll(5)
    const slow = Array.from({ length: 100 }, (_, i) =>
      reviewAccess(DEVELOPER, nth(i), { namespace: `slow-${i % 10}` }),
    )
    await settle()
    t.equal(open.length, AT_ONCE)
    for (let times = 0; times < 3; times += 1) await answerAll(1_500)
    t.equal(open.length, SLOW_AT_ONCE)
    const other = reviewAccess(DEVELOPER, SECRET, { namespace: 'other' })
    await settle()
    t.equal(open.length, SLOW_AT_ONCE + 1)
    while (open.length > 0) await answerAll(5)
    t.ok((await Promise.all([quick, ...slow, other])).every(Boolean))
  },
)

t.test(
  'where the API server asks an authoriser that takes long, but remembers answers, no namespace waits for others',
  async (t) => {
    let time = 0
    const elapsed = (): number => time
    const open: { readonly at: number; readonly answer: () => void }[] = []
    const until = (milliseconds: number): Promise<void> =>
      new Promise((answer) => open.push({ at: time + milliseconds, answer }))
    const recorded = recorder()
    let asked = 0
    const reviewAccess = accessReviews(
      async (call) => {
        asked += 1
        // One of ten is remembered, and what nobody has asked about is not.
        await until(asked % 10 === 0 && !isForAnybody(call) ? 5 : 300)
        return recorded.server(call)
      },
      elapsed,
      { slowly: shareSlowCalls({ elapsed, wait: until }) },
    )
    async function passTo(end: number): Promise<void> {
      for (; time < end; time += 5) {
        for (const one of open.splice(0)) {
          if (one.at <= time) one.answer()
          else open.push(one)
        }
        await setImmediate()
      }
    }
    const took: number[] = []
    const reviews: Promise<unknown>[] = []
    for (let index = 0; index < 200; index += 1) {
      const began = time
      const by = { namespace: `team-${index % 10}` }
      const all = [nth(index), nth(index + 1_000)].map((access) => reviewAccess(DEVELOPER, access, by))
      reviews.push(Promise.all(all).then(() => took.push(time - began)))
      await passTo(began + 400)
    }
    await passTo(time + 60_000)
    await Promise.all(reviews)
    t.equal(took.length, 200)
    t.ok(took.filter((one) => one > 2_000).length <= 10, 'few wait, and only until it is known')
    t.ok(Math.max(...took) < 10_000)
  },
)
