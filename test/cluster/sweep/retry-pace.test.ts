import t from 'tap'
import { makeRetryPace, type RetryPace } from '../../../functions/cluster/sweep/retry-pace.ts'

/** How many retries of these namespaces, asked for in turns without an end, may be made. */
function countIn({ own, shared }: RetryPace, namespaces: readonly string[]): Record<string, number> {
  const counts = Object.fromEntries(namespaces.map((name) => [name, 0]))
  for (let asked = 0; asked < 1_000; asked += 1)
    for (const name of namespaces) if (own(name) || shared()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

t.test('some retries of each namespace are made at once, and more of who is alone', async (t) => {
  let now = 0
  const pace = makeRetryPace(() => now)
  t.same(countIn(pace, ['many']), { many: 25 })
  t.same(countIn(pace, ['other']), { other: 5 })
  now += 10_000
  t.same(countIn(pace, ['many']), { many: 22 })
  t.same(countIn(pace, ['other']), { other: 2 })
})

t.test('ten namespaces make six and a half in a second together', async (t) => {
  let now = 0
  const pace = makeRetryPace(() => now)
  const names = Array.from({ length: 10 }, (_, i) => `team-${i}`)
  const sum = (): number => Object.values(countIn(pace, names)).reduce((a, b) => a + b, 0)
  t.equal(sum(), 70)
  for (let second = 0; second < 60; second += 1) {
    now += 4_000
    t.equal(sum(), 26)
  }
})
