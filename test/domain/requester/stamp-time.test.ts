import t from 'tap'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { isStampOver, stampedAt, stampTime } from '../../../functions/domain/requester/stamp-time.ts'

const NOW = new Date('2026-03-01T10:00:00.000Z')
const KEY = 'commitlet.dev/requester'

function follower(requester?: string, sync = 'OnChange'): unknown {
  const annotations = requester === undefined ? {} : { annotations: { [KEY]: requester } }
  return { metadata: annotations, spec: { sync } }
}

function at(minutes: number): string {
  return new Date(NOW.getTime() + minutes * 60_000).toISOString()
}

t.test('only the stamp of a follower has a time', async (t) => {
  t.equal(stampTime(follower(), NOW), NOW.toISOString())
  t.equal(stampTime(follower(undefined, 'Once'), NOW), undefined)
  t.equal(stampTime({ spec: {} }, NOW), undefined)
  t.equal(stampTime(undefined, NOW), undefined)
})

t.test('a time that was just set stays, and no other that was sent', async (t) => {
  const sent = (minutes: number): string | undefined =>
    stampTime(follower(JSON.stringify({ at: at(minutes) })), NOW)
  for (const minutes of [0, -10, 10]) t.equal(sent(minutes), at(minutes))
  for (const minutes of [-11, 11, 1_000_000]) t.equal(sent(minutes), NOW.toISOString())
  for (const text of ['', '{', 'null', '{"at":5}', '{"at":"soon"}'])
    t.equal(stampTime(follower(text), NOW), NOW.toISOString(), text)
})

t.test('of a text that is longer than any stamp no time is read', async (t) => {
  const brackets = (count: number): string => `{"at":"${at(0)}","a":${'['.repeat(count)}${']'.repeat(count)}}`
  t.equal(stampedAt(brackets(10)), NOW.getTime())
  const before = cpuTime()
  for (let times = 0; times < 10; times += 1) t.equal(stampedAt(brackets(1_450_000)), undefined)
  t.ok(cpuTime() - before < allowedMs(50))
})

t.test('a stamp is over after 90 days, and where it does not say when it was made', async (t) => {
  const isOver = (text: string): boolean => isStampOver({ [KEY]: text }, NOW)
  const day = 24 * 60
  t.notOk(isOver(JSON.stringify({ at: at(-90 * day) })))
  t.ok(isOver(JSON.stringify({ at: at(-90 * day - 1) })))
  for (const text of ['', '{', '{}']) t.ok(isOver(text), text)
  t.ok(isStampOver(undefined, NOW))
  t.equal(stampedAt(undefined), undefined)
})
