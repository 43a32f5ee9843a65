import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { shareSlowCalls } from '../../../functions/cluster/calls/slow-calls.ts'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { mutate } from '../../../webhook/admission/admission.ts'
import { shareReviews } from '../../../webhook/admission/review-share.ts'
import { gitCommit } from '../stage.ts'
import { admissionOver, created, hanging } from './stage.ts'

/** What the nth object is. */
type KindOf = (index: number) => { readonly apiVersion: string; readonly kind: string }

/** A GitCommit in this namespace that names a hundred objects. */
function large(namespace: string, kindOf: KindOf = () => ({ apiVersion: 'v1', kind: 'ConfigMap' })) {
  const files = Array.from({ length: 100 }, (_, i) => ({
    path: `${i}.yaml`,
    resourceRef: { ...kindOf(i), name: `c${i}` },
  }))
  const resource = gitCommit({ namespace }, { files, resourceRef: undefined })
  return created(JSON.parse(JSON.stringify(resource)), { namespace })
}

/** A cluster that answers when `answer` is called, and how many reviews it was asked for. */
function cluster() {
  const open: (() => void)[] = []
  const asked = new Map<string, number>()
  return {
    asked,
    reviewAccess: (_user: unknown, { namespace = '' }: { readonly namespace: string | undefined }) => {
      asked.set(namespace, (asked.get(namespace) ?? 0) + 1)
      return new Promise<boolean>((resolve) => open.push(() => resolve(true)))
    },
    answer: (): void => {
      for (const resolve of open.splice(0)) resolve()
    },
  }
}

async function settle(): Promise<void> {
  for (let times = 0; times < 100; times += 1) await setImmediate()
}

/** Answers whatever is asked until all of these are decided. */
async function answerUntil(decided: readonly Promise<unknown>[], answer: () => void): Promise<void> {
  const seen = { decided: false }
  void Promise.all(decided).then(() => (seen.decided = true))
  while (!seen.decided) {
    answer()
    await settle()
  }
}

/** Reviews of ten namespaces at once, and then one of another, are asked for in turns. */
async function takeTurns(t: Test, isLong: boolean, atOnce: number): Promise<void> {
  const share = shareReviews()
  const { signal } = new AbortController()
  const asked: string[] = []
  const open: (() => void)[] = []
  const ask = (namespace: string): Promise<unknown> =>
    share({ namespace, isLong }, signal, () => {
      asked.push(namespace)
      return new Promise<void>((resolve) => open.push(resolve))
    })
  const floods = Array.from({ length: 10 * 16 }, (_, i) => ask(`evil-${i % 10}`))
  await settle()
  t.equal(asked.length, atOnce)
  const honest = ask('shop')
  for (let answered = 0; answered < 11; answered += 1) {
    open.shift()?.()
    await settle()
  }
  t.ok(asked.includes('shop'), 'it waits for one of each other namespace')
  await answerUntil([...floods, honest], () => {
    for (const answer of open.splice(0)) answer()
  })
  t.equal(asked.length, 161)
}

t.test('the namespaces of one address take turns to have reviews asked for', (t) => takeTurns(t, false, 32))

t.test('they take turns about users with long lists of groups as well', (t) => takeTurns(t, true, 2))

t.test('four reviews follow in a turn of the event loop, however many are answered in one', async (t) => {
  const share = shareReviews()
  const { signal } = new AbortController()
  const open: (() => void)[] = []
  const ask = (namespace: string): Promise<unknown> =>
    share({ namespace }, signal, () => new Promise<void>((resolve) => open.push(resolve)))
  const all = Array.from({ length: 96 }, (_, i) => ask(`ns-${i % 8}`))
  await settle()
  for (const answer of open.splice(0)) answer()
  for (const expected of [4, 8, 12]) {
    await setImmediate()
    t.ok(open.length <= expected, `${open.length} of ${expected}`)
  }
  await answerUntil(all, () => {
    for (const answer of open.splice(0)) answer()
  })
})

t.test(
  'of one namespace, 16 reviews are asked for at once, and another namespace does not wait',
  async (t) => {
    const { asked, reviewAccess, answer } = cluster()
    const admission = admissionOver({ cluster: { reviewAccess } })
    const floods = Array.from({ length: 20 }, () => mutate(large('evil'), admission))
    await settle()
    t.equal(asked.get('evil'), 16)
    const honest = mutate(created(gitCommit({ namespace: 'shop' }), { namespace: 'shop' }), admission)
    await settle()
    t.ok((asked.get('shop') ?? 0) > 0)
    await answerUntil([...floods, honest], answer)
    t.match(await honest, { patch: [] })
    t.match((await Promise.all(floods))[0], { patch: [] })
  },
)

t.test('of one address, 32 reviews are asked for at once, and another address does not wait', async (t) => {
  const { asked, reviewAccess, answer } = cluster()
  const admission = admissionOver({ cluster: { reviewAccess } })
  const from = (address: string, namespace: string) => mutate({ ...large(namespace), address }, admission)
  const floods = Array.from({ length: 20 }, (_, index) => from('192.0.2.1', `made-up-${index}`))
  await settle()
  t.equal(
    [...asked.values()].reduce((sum, count) => sum + count, 0),
    32,
  )
  const honest = from('192.0.2.2', 'shop')
  await settle()
  t.ok((asked.get('shop') ?? 0) > 0)
  await answerUntil([...floods, honest], answer)
  t.match(await honest, { patch: [] })
})

t.test('of all addresses, 48 reviews are asked for at once, and the addresses take turns', async (t) => {
  const { asked, reviewAccess, answer } = cluster()
  const admission = admissionOver({ cluster: { reviewAccess } })
  const floods = Array.from({ length: 40 }, (_, index) =>
    mutate({ ...large(`made-up-${index}`), address: `192.0.2.${10 + (index % 10)}` }, admission),
  )
  await settle()
  t.equal(
    [...asked.values()].reduce((sum, count) => sum + count, 0),
    48,
  )
  const honest = mutate({ ...large('shop'), address: '192.0.2.2' }, admission)
  await settle()
  t.equal(asked.get('shop'), undefined)
  answer()
  await settle()
  t.ok((asked.get('shop') ?? 0) > 0)
  await answerUntil([...floods, honest], answer)
})

t.test(
  'about users with long lists of groups two reviews are asked for at once, and others do not wait',
  async (t) => {
    for (const groups of [
      ['x'.repeat(9 * 1024)],
      Array.from({ length: 3_000 }, () => ''),
      ['\u0001'.repeat(1_400)],
    ]) {
      const { asked, reviewAccess, answer } = cluster()
      const admission = admissionOver({ cluster: { reviewAccess } })
      const user = { username: 'ops', groups }
      const long = (namespace: string, address: string) =>
        mutate({ ...large(namespace), user, address }, admission)
      const floods = ['evil', 'made-up'].map((namespace) => long(namespace, '192.0.2.1'))
      await settle()
      t.equal((asked.get('evil') ?? 0) + (asked.get('made-up') ?? 0), 2)
      const honest = mutate({ ...large('shop'), address: '192.0.2.1' }, admission)
      const other = long('other', '192.0.2.2')
      await settle()
      t.equal(asked.get('shop'), 16)
      answer()
      await settle()
      t.ok((asked.get('other') ?? 0) > 0, 'the addresses take turns')
      await answerUntil([...floods, honest, other], answer)
      t.match(await other, { patch: [] })
    }
  },
)

t.test('kinds of an API that hangs are asked for once, and others do not wait', async (t) => {
  const asked: string[] = []
  const api = connectCluster(({ path }) => {
    asked.push(path)
    const resources = [{ kind: 'ConfigMap', name: 'configmaps', namespaced: true }]
    return path === '/api/v1'
      ? Promise.resolve({ status: 200, text: JSON.stringify({ resources }) })
      : hanging()
  })
  const discover: typeof api.discover = (...of) => api.discover(...of)
  const admission = admissionOver({ cluster: { discover }, deadlines: { decideMs: 500, lookMs: 500 } })
  const hangs: KindOf = (index) => ({ apiVersion: 'hangs.example.com/v1', kind: `Kind${index}` })
  const floods = ['evil', 'made-up', 'third'].map((namespace) => mutate(large(namespace, hangs), admission))
  await settle()
  t.match(await mutate(large('shop'), admission), { patch: [] })
  for (const flood of floods) t.match(await flood, { denial: { code: 503 } })
  t.same(asked, ['/apis/hangs.example.com/v1', '/api/v1'])
})

t.test('after the deadline of a decision nothing more is asked for', async (t) => {
  const { asked, reviewAccess, answer } = cluster()
  const admission = admissionOver({ cluster: { reviewAccess }, deadlines: { decideMs: 1, lookMs: 1 } })
  t.match(await mutate(large('evil'), admission), { denial: { code: 503 } })
  answer()
  await settle()
  t.equal(asked.get('evil'), 16)
})

t.test(
  'of namespaces whose reviews are slow, one is asked for at once, and others do not wait',
  async (t) => {
    let time = 0
    const share = shareReviews(shareSlowCalls({ elapsed: () => time, wait: () => Promise.resolve() }))
    const { signal } = new AbortController()
    const open: (() => void)[] = []
    // Not answered: so nothing is known of what others need.
    const forAnybody = (): Promise<unknown> => Promise.withResolvers<unknown>().promise
    const ask = (namespace: string): Promise<unknown> =>
      share({ namespace, forAnybody }, signal, () => new Promise<void>((resolve) => open.push(resolve)))
    async function answerAll(milliseconds: number): Promise<void> {
      await settle()
      time += milliseconds
      for (const answer of open.splice(0)) answer()
      await settle()
    }
    void ask('quick')
    await answerAll(5)
    for (let index = 0; index < 10 * 16; index += 1) void ask(`evil-${index % 10}`)
    await answerAll(2_000)
    await answerAll(0)
    t.equal(open.length, 1)
    const others = [ask('quick'), ask('new')]
    await settle()
    await answerAll(5)
    await Promise.all(others)
    const late = new AbortController()
    const waiting = share({ namespace: 'evil-0', forAnybody }, late.signal, () => Promise.resolve())
    late.abort(new Error('late'))
    t.match(await waiting.catch((error: unknown) => error), { reason: 'Internal' })
  },
)

t.test('what reviews take for anybody is asked for in a namespace that nobody has', async (t) => {
  const { asked, reviewAccess, answer } = cluster()
  const reviewShare = shareReviews((_owner, { inTurn, call, forAnybody }) => {
    void forAnybody?.()
    return inTurn(call)
  })
  const admission = { ...admissionOver({ cluster: { reviewAccess } }), reviewShare }
  await answerUntil([mutate(large('shop'), admission)], answer)
  const others = [...asked.keys()].filter((namespace) => namespace !== 'shop')
  t.ok(others.length > 0)
  t.ok(others.every((namespace) => /^commitlet-[\da-f-]{36}$/.test(namespace)))
  t.equal(new Set(others).size, others.length, 'each time in another one')
})
