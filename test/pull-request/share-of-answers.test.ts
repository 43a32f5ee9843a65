import t from 'tap'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import type { HTTPSettings } from '../../functions/http/http.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { waitFor } from '../harness/wait.ts'
import { BRANCHES, callHost } from './called-host.ts'

const { signal } = new AbortController()

t.test(
  'a namespace that waits for its share of the thread leaves the turns of its token to others',
  async (t) => {
    const model = memoryModel({ repository: ['acme', 'shop'] })
    model.branches.set('x', 3)
    const waiting: (() => void)[] = []
    // Nobody has anything left.
    const workFor: HTTPSettings['workFor'] = (_namespace, work) =>
      new Promise((resolve) => void waiting.push(() => resolve(work())))
    const gitea = { dialect: GITEA, name: 'gitea', shown: 'https://git.example.com/acme/shop' }
    const { host, use, target, login } = await callHost(t, model, gitea, workFor)
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

t.test('the share is waited for before a change, and not while others wait for that', async (t) => {
  const model = memoryModel({ repository: ['acme', 'shop'] })
  model.branches.set('x', 3)
  const urgent: boolean[] = []
  const workFor: HTTPSettings['workFor'] = (_namespace, work, _signal, isUrgent = false) => {
    urgent.push(isUrgent)
    return Promise.resolve().then(work)
  }
  const gitea = { dialect: GITEA, name: 'gitea', shown: 'https://git.example.com/acme/shop' }
  const { host, use, target, login } = await callHost(t, model, gitea, workFor)
  const long = { status: 422, body: { message: 'x'.repeat(100_000) } }
  const text = { title: 'Settings', body: '' }
  const changes: readonly ((pulls: PullRequests) => Promise<unknown>)[] = [
    (pulls) => pulls.create({ ...text, branches: BRANCHES, draft: false }),
    (pulls) => pulls.update({ ...text, number: 1, url: '', state: 'open' }, text),
  ]
  for (const change of changes) {
    urgent.length = 0
    host.fail({ kind: 'answer', answer: long }, (method) => method !== 'GET')
    await t.rejects(use(target, { login, signal, namespace: 'team' }, change), { name: 'Failure' })
    t.strictSame(urgent, [false, true])
  }
})
