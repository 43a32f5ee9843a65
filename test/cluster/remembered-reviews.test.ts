import t from 'tap'
import type { ReviewAccess } from '../../functions/cluster/access-review.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { Access } from '../../functions/domain/gate/access.ts'
import { ALLOWED, DENIED, DEVELOPER, recorder, reviews, SECRET } from './review-stage.ts'

/** The nth access: all different. */
function nth(index: number): Access {
  return { ...SECRET, name: `git-${index}` }
}

t.test('an "allowed" counts for 5 s from the question', async (t) => {
  const recorded = recorder()
  const clock = reviews(recorded)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  recorded.gate = promise
  const first = clock.ask(DEVELOPER, SECRET)
  clock.now += 3_000
  resolve(undefined)
  t.equal(await first, true)
  recorded.status = DENIED
  clock.now += 1_999
  t.equal(await clock.ask(DEVELOPER, SECRET), true, '4,999 ms after the question')
  t.equal(recorded.calls.length, 1)
  clock.now += 2
  t.equal(await clock.ask(DEVELOPER, SECRET), false, '5,001 ms after the question')
})

t.test('an "allowed" does not outlive its 5 s while the clock of the machine is set back', async (t) => {
  const recorded = recorder()
  const cluster = connectCluster(recorded.server)
  t.equal(await cluster.reviewAccess(DEVELOPER, SECRET), true)
  recorded.status = DENIED
  const [anHourAgo, later] = [Date.now() - 3_600_000, performance.now() + 5_001]
  t.intercept(Date, 'now', { value: () => anHourAgo })
  t.intercept(performance, 'now', { value: () => later })
  t.equal(await cluster.reviewAccess(DEVELOPER, SECRET), false)
})

t.test('a "denied" is never remembered', async (t) => {
  const recorded = recorder(DENIED)
  const { ask } = reviews(recorded)
  t.equal(await ask(DEVELOPER, SECRET), false)
  t.equal(await ask(DEVELOPER, SECRET), false)
  recorded.status = ALLOWED
  t.equal(await ask(DEVELOPER, SECRET), true)
  t.equal(recorded.calls.length, 3)
})

t.test('an "allowed" does not count for another user or another object', async (t) => {
  const recorded = recorder()
  const { ask } = reviews(recorded)
  await ask(DEVELOPER, SECRET)
  recorded.status = DENIED
  const others: Parameters<ReviewAccess>[] = [
    [{ ...DEVELOPER, username: 'ops' }, SECRET],
    [{ ...DEVELOPER, uid: 'u-2' }, SECRET],
    [{ ...DEVELOPER, groups: [] }, SECRET],
    [{ ...DEVELOPER, groups: ['developers,system:authenticated'] }, SECRET],
    [{ ...DEVELOPER, extra: {} }, SECRET],
    [DEVELOPER, { ...SECRET, verb: 'get' }],
    [DEVELOPER, { ...SECRET, namespace: 'other' }],
    [DEVELOPER, { ...SECRET, namespace: undefined }],
    [DEVELOPER, { ...SECRET, name: 'other' }],
    [DEVELOPER, { ...SECRET, group: 'example.com' }],
    [DEVELOPER, { ...SECRET, resource: 'configmaps' }],
  ]
  for (const [user, access] of others) t.equal(await ask(user, access), false, JSON.stringify([user, access]))
  t.equal(await ask({ ...DEVELOPER }, { ...SECRET }), true)
})

t.test('equal reviews in flight are one request', async (t) => {
  const recorded = recorder()
  const clock = reviews(recorded)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  recorded.gate = promise
  const early = [clock.ask(DEVELOPER, SECRET), clock.ask(DEVELOPER, SECRET)]
  t.equal(recorded.calls.length, 1)
  clock.now += 5_001
  const late = clock.ask(DEVELOPER, SECRET)
  t.equal(recorded.calls.length, 2, 'but none joins a question that is more than 5 s old')
  resolve(undefined)
  t.strictSame(await Promise.all([...early, late]), [true, true, true])
})

t.test('an old review that ends with a denial does not affect the new one', async (t) => {
  const recorded = recorder(DENIED)
  const clock = reviews(recorded)
  const old = Promise.withResolvers<undefined>()
  recorded.gate = old.promise
  const first = clock.ask(DEVELOPER, SECRET)
  clock.now += 5_001
  recorded.gate = Promise.resolve()
  recorded.status = ALLOWED
  t.equal(await clock.ask(DEVELOPER, SECRET), true)
  recorded.status = DENIED
  old.resolve(undefined)
  t.equal(await first, false)
  t.equal(await clock.ask(DEVELOPER, SECRET), true)
  t.equal(recorded.calls.length, 2)
})

t.test('4,096 answers are remembered, and the oldest goes first', async (t) => {
  const recorded = recorder()
  const { ask } = reviews(recorded)
  for (let index = 0; index <= 4_096; index += 1) await ask(DEVELOPER, nth(index))
  t.equal(recorded.calls.length, 4_097)
  await ask(DEVELOPER, nth(1))
  await ask(DEVELOPER, nth(4_096))
  t.equal(recorded.calls.length, 4_097)
  await ask(DEVELOPER, nth(0))
  t.equal(recorded.calls.length, 4_098)
})

t.test('a review that is asked for again is not the oldest any more', async (t) => {
  const recorded = recorder()
  const clock = reviews(recorded)
  await clock.ask(DEVELOPER, nth(0))
  clock.now += 1
  await clock.ask(DEVELOPER, nth(1))
  clock.now += 4_999
  await clock.ask(DEVELOPER, nth(0))
  for (let index = 2; index <= 4_096; index += 1) await clock.ask(DEVELOPER, nth(index))
  const before = recorded.calls.length
  await clock.ask(DEVELOPER, nth(0))
  t.equal(recorded.calls.length, before)
})
