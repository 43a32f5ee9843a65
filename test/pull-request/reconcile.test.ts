import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { PullRequest } from '../../functions/domain/resource/resource.ts'
import { pullRequest } from '../domain/fixtures/pullrequest.ts'
import { memoryPullRequests } from '../harness/memory-pull-requests.ts'
import type { MemoryPullRequests } from '../harness/memory-pull-requests.ts'
import { after, BRANCHES, changed, go, OURS, URL } from './stage.ts'

t.test('where there is none, one is opened, with the marker in its body', async (t) => {
  const host = memoryPullRequests()
  t.match(await go(host, pullRequest({ draft: true })), {
    reason: 'Succeeded',
    message: `Opened #1: ${URL}`,
    pullRequest: { number: 1, url: URL, state: 'open' },
    details: undefined,
  })
  t.match(host.held, [{ ...OURS, branches: BRANCHES, draft: true }])
  t.strictSame(host.calls, ['find open', 'create'])
})

t.test('a spec without a body has a body with only the marker, and no draft', async (t) => {
  const host = memoryPullRequests()
  const { body, ...spec } = pullRequest().spec
  t.ok(body)
  await go(host, { ...pullRequest(), spec })
  t.match(host.held, [{ body: /^\[commitlet:[^\n]+\]: #$/, draft: false }])
})

t.test('requested again it is the same one, and nothing is written', async (t) => {
  const host = memoryPullRequests()
  const resource = pullRequest()
  const opened = await go(host, resource)
  const upToDate = { reason: 'UpToDate', message: `#1 is open: ${URL}`, pullRequest: { number: 1 } }
  t.match(await go(host, after(resource, opened)), upToDate)
  t.strictSame(host.calls, ['read 1'])
  t.match(await go(host, resource, true), upToDate)
  t.strictSame(host.calls, ['find all'])
  t.equal(host.held.length, 1)
})

t.test('of a long list only what it goes on with is kept', async (t) => {
  const host = memoryPullRequests()
  for (let count = 0; count < 50; count += 1) host.hold({ state: 'closed' })
  host.hold({ ...OURS, state: 'merged' })
  for (let count = 0; count < 50; count += 1) host.hold({ state: 'closed' })
  const lengths: number[] = []
  const counted: MemoryPullRequests = {
    ...host,
    async find(...asked) {
      const found = await host.find(...asked)
      lengths.push(found.length)
      return found
    },
  }
  t.match(await go(counted, pullRequest(), true), { reason: 'UpToDate', pullRequest: { number: 51 } })
  t.strictSame(lengths, [2])
})

t.test('after a lost answer the next attempt finds the opened pull request', async (t) => {
  const host = memoryPullRequests()
  const lost = new Failure('NetworkError', 'The connection was cut.')
  host.after = (verb) => {
    if (verb === 'create') throw lost
  }
  await t.rejects(go(host), lost)
  host.after = () => undefined
  t.match(await go(host, pullRequest(), true), { reason: 'UpToDate', pullRequest: { number: 1 } })
  t.equal(host.held.length, 1)
})

const LATER: readonly (readonly [title: string, resource: PullRequest, again: boolean])[] = [
  ['a repeated attempt', pullRequest(), true],
  ['a newer generation', pullRequest({ title: 'Newer' }, { generation: 2 }), false],
  ['another request', pullRequest({}, { requestedAt: 'again' }), false],
]

for (const [title, resource, again] of LATER) {
  t.test(`${title} opens no second one where the first, unknown yet, was merged meanwhile`, async (t) => {
    const host = memoryPullRequests()
    host.hold({ ...OURS, state: 'merged' })
    t.match(await go(host, resource, again), {
      reason: 'UpToDate',
      message: `#1 was merged and is not opened again; create another PullRequest for further changes: ${URL}`,
      pullRequest: { number: 1, state: 'merged' },
      details: 'as before',
    })
    t.strictSame(host.calls, ['find all'])
  })
}

for (const state of ['merged', 'closed'] as const) {
  t.test(`one that was ${state} reads so, whatever the spec says`, async (t) => {
    const host = memoryPullRequests()
    const resource = pullRequest({ labels: ['settings'] })
    const known = after(resource, await go(host, resource))
    host.change(1, { state })
    for (const later of [known, changed(known, { title: 'Newer', labels: ['urgent'] })]) {
      t.match(await go(host, later), {
        message: `#1 was ${state} and is not opened again; create another PullRequest for further changes: ${URL}`,
        pullRequest: { number: 1, url: URL, state },
        details: 'as before',
      })
      t.strictSame(host.calls, ['read 1'])
    }
    t.match(host.held, [{ ...OURS, details: { labels: ['settings'] } }])
  })
}

t.test('one that is gone, or has other branches now, is not replaced by a second one', async (t) => {
  for (const base of ['other', 'main']) {
    const host = memoryPullRequests()
    const known = after(pullRequest(), await go(host))
    if (base === 'other') host.change(1, { branches: { ...BRANCHES, base } })
    else host.held.pop()
    t.match(await go(host, known), {
      reason: 'UpToDate',
      message: /^#1 no longer exists or has other branches now, .*; create another PullRequest/,
      pullRequest: { number: 1, url: URL, state: 'closed' },
      details: 'as before',
    })
    t.strictSame(host.calls, ['read 1', 'find all'])
  }
})

t.test('one that was merged before it was deleted stays merged', async (t) => {
  const host = memoryPullRequests()
  const known = after(pullRequest(), await go(host))
  host.change(1, { state: 'merged' })
  const merged = after(known, await go(host, known))
  host.held.pop()
  t.match(await go(host, merged), { pullRequest: { state: 'merged' } })
})

t.test('where another one has the same branches instead, that one is reported', async (t) => {
  const host = memoryPullRequests()
  const known = after(pullRequest(), await go(host))
  host.change(1, { branches: { ...BRANCHES, base: 'other' } })
  host.hold()
  t.match(await go(host, known), { message: /^#2 was opened by someone else/, pullRequest: { number: 2 } })
})

t.test('a host that reports one and shows none is retried later', async (t) => {
  const host = memoryPullRequests()
  host.create = () => Promise.resolve('exists')
  await t.rejects(go(host), {
    reason: 'Conflict',
    retry: 'transient',
    message:
      'The host of https://github.com/acme/shop.git reports that a pull request from feature to main is open, but lists none; Commitlet retries automatically.',
  })
})

t.test('what the host refuses is passed on as it is', async (t) => {
  for (const [verb, resource] of [
    ['find open', pullRequest()],
    ['create', pullRequest()],
    ['update 1', pullRequest({ title: 'Newer' }, { generation: 2 })],
  ] as const) {
    const host = memoryPullRequests()
    if (verb === 'update 1') host.hold(OURS)
    const failure = new Failure('HeadNotFound', 'No such branch.')
    host.before = (called) => {
      if (called === verb) throw failure
    }
    await t.rejects(go(host, resource), failure, verb)
  }
})
