import t from 'tap'
import { makeBudget } from '../../../functions/attempt/turns/budget.ts'
import { API_SESSION, PREPARING, sessionCost } from '../../../functions/attempt/turns/cost.ts'
import { divide } from '../../../functions/attempt/turns/shares.ts'
import { memoryOf } from '../../../functions/git/session/limits.ts'

/** As in knative.yaml: 2 GiB, of which /tmp may take 1 GiB. */
const POD = { memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }
const COMMIT = sessionCost({ scheme: 'https' })

/** How many get a share at once if each comes from a namespace and a host of its own. */
async function countAtOnce(pod: typeof POD): Promise<number> {
  const { stock, sessions } = divide(pod, 256)
  const lane = makeBudget(stock).open(sessions)
  let started = 0
  for (let i = 0; i < 200; i += 1)
    void lane
      .acquire(COMMIT, { namespace: `n${i}`, host: `h${i}`, resource: `${i}` })
      .then(() => (started += 1))
  await new Promise(setImmediate)
  return started
}

t.test('64 pushes run at once in a pod of 2 GiB, and fewer in a smaller one', async (t) => {
  t.equal(await countAtOnce(POD), 64)
  t.equal(await countAtOnce({ ...POD, memoryMiB: 1024 }), 26)
  t.equal(await countAtOnce({ ...POD, memoryMiB: 256 }), 1)
  t.equal(
    await countAtOnce({ ...POD, memoryMiB: 65_536 }),
    64,
    'more would not find a thread to resolve names',
  )
  t.equal(
    await countAtOnce({ ...POD, diskMiB: 64 }),
    12,
    'the folder for temporary files may be the smaller one',
  )
})

t.test('one namespace gets an eighth of the sessions, as many as eight', async (t) => {
  const { stock, sessions } = divide(POD, 256)
  const lane = makeBudget(stock).open(sessions)
  let started = 0
  for (let i = 0; i < 20; i += 1)
    void lane
      .acquire(COMMIT, { namespace: 'hog', host: `h${i}`, resource: `${i}` })
      .then(() => (started += 1))
  await new Promise(setImmediate)
  t.equal(started, 8)
})

t.test('a large session in a pod of 2 GiB may fetch all of FETCH_LIMIT', async (t) => {
  const { largeCost, largeLimits } = divide(POD, 256)
  t.same(largeLimits, { memoryMiB: 61, fileMiB: 256 })
  t.same(largeCost, { memoryMiB: memoryOf(largeLimits), diskMiB: 256 })
})

const PODS = [256, 300, 512, 1024, 2048, 8192].flatMap((memoryMiB) =>
  [32, 256, 1024, 100_000].flatMap((diskMiB) =>
    [true, false].map((diskIsMemory) => ({ memoryMiB, diskMiB, diskIsMemory })),
  ),
)

t.test('whatever the pod, all that may run at once fits into it', async (t) => {
  for (const pod of PODS)
    for (const fetchLimit of [1, 256, 65_536]) {
      const { stock, sessions, changes, large, largeCost, editMiB } = divide(pod, fetchLimit)
      const one = largeCost.memoryMiB + (pod.diskIsMemory ? largeCost.diskMiB : 0)
      const { total } = sessions.held
      const memoryMiB = total.memoryMiB + changes.held.total.memoryMiB
      const what = `${JSON.stringify(pod)}, FETCH_LIMIT ${fetchLimit}`
      t.ok(memoryMiB + one <= stock.memoryMiB, `${what}: memory`)
      t.ok(editMiB <= one && editMiB >= 64, `${what}: an edit finds the memory of a large session`)
      t.ok(total.diskMiB + largeCost.diskMiB <= stock.diskMiB, `${what}: disk`)
      t.ok(total.memoryMiB >= COMMIT.memoryMiB, `${what}: at least one push`)
      t.ok(large.held.total.count >= 1 && large.held.perNamespace.count <= 2, `${what}: a large session`)
    }
})

t.test('with 4 large sessions or more, none of a namespace takes all', async (t) => {
  const { large } = divide({ ...POD, memoryMiB: 8192, diskMiB: 8192 }, 256)
  t.match(large.held, { total: { count: 8 }, perNamespace: { count: 2 }, perHost: { count: 6 } })
  t.match(divide(POD, 256).large.held, {
    total: { count: 3 },
    perNamespace: { count: 1 },
    perHost: { count: 2 },
  })
})

t.test('a push by SSH, one by HTTPS and a pull request cost what they need', async (t) => {
  const ssh = sessionCost({ scheme: 'ssh' })
  t.same([COMMIT.memoryMiB + COMMIT.diskMiB, ssh.memoryMiB + ssh.diskMiB], [17, 17])
  t.equal(API_SESSION.diskMiB, 0, 'only its host is called')
})

t.test('in a pod of 2 GiB one namespace makes eight changes at once, and 64 are made in all', async (t) => {
  const { held } = divide(POD, 256).changes
  t.equal(Math.floor(held.perNamespace.memoryMiB / PREPARING.memoryMiB), 8)
  t.match([held.perNamespace.count, held.total.count, held.perHost.count], [8, 64, 48])
})
