import t, { type Test } from 'tap'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
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
    // Nobody has anything left.
    const workFor: HTTPSettings['workFor'] = (_namespace, work) =>
      new Promise((resolve) => void waiting.push(() => resolve(work())))
    const { host, use, target, login } = await callHost(t, model, GITEA_HOST, { workFor })
    const long = { status: 200, body: ['x'.repeat(100_000)] }
    const evil = [1, 2].map(() => {
      host.fail({ kind: 'answer', answer: long })
      return use(target, { login, signal, namespace: 'evil' }, (pulls) => pulls.find(BRANCHES, 'open'))
    })
    await waitFor('answers that wait for a share', () => waiting.length === evil.length || undefined, 5_000)
    const team = use(target, { login, signal, namespace: 'team' }, (pulls) => pulls.find(BRANCHES, 'open'))
    t.strictSame(await team, [])
    for (const go of waiting) go()
    await Promise.allSettled(evil)
  },
)

/** A session with a Gitea, and changes of it. */
async function stage(t: Test, thread: Pick<HTTPSettings, 'workFor' | 'reserve'>) {
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
    workFor: (_namespace, work, _signal, isUrgent = false) => {
      events.push(isUrgent ? 'urgent' : 'in its share')
      return Promise.resolve().then(work)
    },
    reserve: async () => {
      events.push('reserved')
      return () => void events.push('given back')
    },
  })
  const long = { status: 422, body: { message: 'x'.repeat(100_000) } }
  for (const change of changes) {
    events.length = 0
    host.fail({ kind: 'answer', answer: long }, (method) => method !== 'GET')
    await t.rejects(run('team', change), { name: 'Failure' })
    t.strictSame(events, ['reserved', 'urgent', 'given back'])
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
