import t from 'tap'
import {
  followingIn,
  intervalOf,
  intervalSeconds,
  isFollowing,
  isLookDue,
} from '../../../functions/domain/resource/following.ts'
import type { Envelope } from '../../../functions/domain/resource/resource.ts'
import type { Status } from '../../../functions/domain/resource/stored-status.ts'
import { resource } from '../fixtures/envelope.ts'

const SUCCEEDED: Status = { observedGeneration: 1, phase: 'Succeeded' }

for (const [text, seconds] of [
  ['1m', 60],
  ['10m', 600],
  ['1h30m', 5_400],
  ['1.5h', 5_400],
  ['60000ms', 60],
  ['24h', 86_400],
  ['59s', undefined],
  ['24h1s', undefined],
  ['10', undefined],
  ['1d', undefined],
  ['-5m', undefined],
  ['5m ', undefined],
  ['', undefined],
] as const)
  t.test(`the interval "${text}"`, async (t) => {
    t.equal(intervalSeconds(text), seconds)
    t.equal(intervalOf(text), seconds ?? 600)
  })

t.test('only a spec with OnChange follows', async (t) => {
  t.same(followingIn({ sync: 'OnChange' }), { intervalSeconds: 600 })
  t.same(followingIn({ sync: 'OnChange', interval: '1h' }), { intervalSeconds: 3_600 })
  for (const spec of [{}, { sync: 'Once' }, { sync: null }, { interval: '1h' }, undefined])
    t.equal(followingIn(spec), undefined)
})

t.test('only a follower that has succeeded is looked at', async (t) => {
  const follows = { intervalSeconds: 600 }
  const follower = (status: Status, more: object = {}): Envelope => ({
    ...resource(status),
    follows,
    ...more,
  })
  t.ok(isFollowing(follower(SUCCEEDED)))
  t.notOk(isFollowing(resource(SUCCEEDED)), 'no follower')
  t.notOk(isFollowing(follower(SUCCEEDED, { suspended: true })), 'suspended')
  t.notOk(isFollowing({ ...resource(SUCCEEDED, { deleting: true }), follows }), 'deleted')
  t.notOk(isFollowing({ ...resource(SUCCEEDED, { generation: 2 }), follows }), 'another spec')
  t.notOk(isFollowing({ ...resource(SUCCEEDED, { requestedAt: 'x' }), follows }), 'another request')
  for (const phase of ['Pending', 'Progressing', 'Retrying', 'Failed'] as const)
    t.notOk(isFollowing(follower({ ...SUCCEEDED, phase })), phase)
})

t.test('a follower has its turn once in each interval, spread by the uids', async (t) => {
  const minute = 60_000
  const turns = (uid: string): readonly number[] =>
    Array.from({ length: 60 }, (_, i) => i).filter((i) =>
      isLookDue(uid, { intervalSeconds: 600 }, { since: i * minute, now: (i + 1) * minute }),
    )
  t.equal(turns('00000000-0').length, 6)
  t.equal(turns('0007a120-0').length, 6)
  t.not(turns('00000000-0')[0], turns('0003d090-0')[0])
  t.equal(turns('no uid').length, 6)
})
