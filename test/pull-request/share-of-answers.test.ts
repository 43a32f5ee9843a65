import t, { type Test } from 'tap'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import type { WorkFor } from '../../functions/domain/network/share.ts'
import type { HTTPSettings } from '../../functions/http/http.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { waitFor } from '../harness/wait.ts'
import { BRANCHES, callHost } from './called-host.ts'

const { signal } = new AbortController()
const GITEA_HOST = { dialect: GITEA, name: 'gitea', shown: 'https://git.example.com/acme/shop' }

t.test(
  'a namespace that waits for its share of the thread leaves the turns of its token to others',
  async (t) => {
    const model = memoryModel({ repository: ['acme', 'shop'] })
    model.branches.set('x', 3)
    const waiting: (() => void)[] = []
    let isSpent = true
    const callFor: WorkFor = (namespace, work) =>
      isSpent && namespace === 'evil'
        ? new Promise((resolve) => void waiting.push(() => resolve(work())))
        : Promise.resolve().then(work)
    const calls = { callFor, mustWait: (namespace: string) => namespace === 'evil', count: () => undefined }
    const { use, target, login } = await callHost(t, model, GITEA_HOST, { calls })
    const evil = [1, 2].map(() =>
      use(target, { login, signal, namespace: 'evil' }, (pulls) => pulls.find(BRANCHES, 'open')),
    )
    await waitFor('calls that wait for a share', () => waiting.length === evil.length || undefined, 5_000)
    const team = use(target, { login, signal, namespace: 'team' }, (pulls) => pulls.find(BRANCHES, 'open'))
    t.strictSame(await team, [])
    isSpent = false
    for (const go of waiting) go()
    await Promise.allSettled(evil)
  },
)

/** A session with a Gitea, and changes of it. */
async function stage(t: Test, thread: Pick<HTTPSettings, 'calls' | 'reserve'>) {
  const model = memoryModel({ repository: ['acme', 'shop'] })
  model.branches.set('x', 3)
  const { host, use, target, login } = await callHost(t, model, GITEA_HOST, thread)
  const text = { title: 'Settings', body: '' }
  const changes: readonly ((pulls: PullRequests) => Promise<unknown>)[] = [
    (pulls) => pulls.create({ ...text, branches: BRANCHES, draft: false }),
    (pulls) => pulls.update({ ...text, number: 1, url: '', state: 'open' }, text),
  ]
  return {
    host,
    changes,
    run: <T>(namespace: string, work: (pulls: PullRequests) => Promise<T>, end = signal): Promise<T> =>
      use(target, { login, signal: end, namespace }, work),
  }
}

t.test('the share is waited for before a change, and not while others wait for that', async (t) => {
  const events: string[] = []
  const { host, changes, run } = await stage(t, {
    calls: {
      callFor: (_namespace, work, _signal, isUrgent = false) => {
        events.push(isUrgent ? 'urgent' : 'in its share')
        return Promise.resolve().then(work)
      },
      mustWait: () => true,
      count: () => undefined,
    },
    reserve: async () => {
      events.push('reserved')
      return () => void events.push('given back')
    },
  })
  const refused = { status: 422, body: { message: 'No.' } }
  for (const change of changes) {
    events.length = 0
    host.seen.length = 0
    host.fail({ kind: 'answer', answer: refused }, (method) => method !== 'GET')
    await t.rejects(run('team', change), { name: 'Failure' })
    t.strictSame([events.at(0), events.at(-1)], ['reserved', 'given back'])
    const between = events.slice(1, -1)
    t.strictSame(new Set(between), new Set(['urgent']))
    t.equal(between.length, 2 * host.seen.length, 'each call and each answer, however short it is')
  }
})

t.test('who waits for its share before a change leaves the turns of its token to others', async (t) => {
  const going = Promise.withResolvers<undefined>()
  let waiting = 0
  const { host, changes, run } = await stage(t, {
    reserve: async () => {
      waiting += 1
      await going.promise
      return () => undefined
    },
  })
  const evil = [...changes, ...changes].map((change) => run('evil', change).catch(() => undefined))
  await waitFor('changes that wait for a share', () => waiting === evil.length || undefined, 5_000)
  t.strictSame(await run('team', (pulls) => pulls.find(BRANCHES, 'open')), [])
  t.equal(host.seen.length, 1)
  going.resolve(undefined)
  await Promise.all(evil)
})

t.test('what was reserved is given back where there is no time left for the change', async (t) => {
  let reserved = 0
  const time = new AbortController()
  const { host, changes, run } = await stage(t, {
    reserve: async () => {
      reserved += 1
      time.abort()
      return () => (reserved -= 1)
    },
  })
  for (const change of changes) {
    await t.rejects(run('team', change, time.signal), { name: 'Failure', reason: 'Timeout' })
    t.equal(reserved, 0)
  }
  t.equal(host.seen.length, 0)
})
