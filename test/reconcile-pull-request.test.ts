import t from 'tap'
import { Failure } from '../functions/domain/failure.ts'
import { marked } from '../functions/domain/marker.ts'
import type { Branches } from '../functions/domain/pull-requests.ts'
import type { PullRequest, PullRequestSpec } from '../functions/domain/resources.ts'
import { succeeded } from '../functions/domain/status.ts'
import { reconcilePullRequest } from '../functions/reconcile-pull-request.ts'
import { pullRequest, UID } from './domain/fixtures/pullrequest.ts'
import { memoryPullRequests } from './harness/memory-pull-requests.ts'
import type { MemoryPullRequests } from './harness/memory-pull-requests.ts'

const BRANCHES: Branches = { base: 'main', head: 'feature', headOwner: undefined }
const OURS = marked({ title: 'New settings', body: 'Closes #12.' }, UID)
const URL = 'https://git.example.com/acme/shop/pulls/1'

type Outcome = Awaited<ReturnType<typeof reconcilePullRequest>>

function go(host: MemoryPullRequests, resource = pullRequest(), again = false): Promise<Outcome> {
  host.calls.length = 0
  return reconcilePullRequest({ resource, branches: BRANCHES, again }, host)
}

/** The resource as it is stored after this outcome. */
function after(resource: PullRequest, outcome: Outcome): PullRequest {
  const status = succeeded(resource, { ...outcome, credentialsUsed: 'Primary' }, new Date())
  return { ...resource, status }
}

function changed(resource: PullRequest, spec: Partial<PullRequestSpec>): PullRequest {
  const { metadata } = resource
  const generation = metadata.generation + 1
  return { ...resource, metadata: { ...metadata, generation }, spec: { ...resource.spec, ...spec } }
}

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

t.test('a spec without a body makes one that is the marker alone, and no draft', async (t) => {
  const host = memoryPullRequests()
  const { body, ...spec } = pullRequest().spec
  t.ok(body)
  await go(host, { ...pullRequest(), spec })
  t.match(host.held, [{ body: /^\[commitlet:[^\n]+\]: #$/, draft: false }])
})

t.test('asked again it is the same one, and nothing is written', async (t) => {
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

t.test('an answer that was lost costs nothing: the next attempt finds what it has opened', async (t) => {
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
  t.test(`${title} opens no second one where the first, unheard of, was merged meanwhile`, async (t) => {
    const host = memoryPullRequests()
    host.hold({ ...OURS, state: 'merged' })
    t.match(await go(host, resource, again), {
      reason: 'UpToDate',
      message: `#1 was merged and is not opened again: ${URL}`,
      pullRequest: { number: 1, state: 'merged' },
      details: 'as before',
    })
    t.strictSame(host.calls, ['find all'])
  })
}

for (const state of ['merged', 'closed'] as const) {
  t.test(`one that was ${state} reads so, whatever the spec says by now`, async (t) => {
    const host = memoryPullRequests()
    const resource = pullRequest({ labels: ['settings'] })
    const known = after(resource, await go(host, resource))
    host.change(1, { state })
    for (const later of [known, changed(known, { title: 'Newer', labels: ['urgent'] })]) {
      t.match(await go(host, later), {
        message: `#1 was ${state} and is not opened again: ${URL}`,
        pullRequest: { number: 1, url: URL, state },
        details: 'as before',
      })
      t.strictSame(host.calls, ['read 1'])
    }
    t.match(host.held, [{ ...OURS, details: { labels: ['settings'] } }])
  })
}

t.test('one that is gone, or joins other branches by now, is not replaced by a second one', async (t) => {
  for (const base of ['other', 'main']) {
    const host = memoryPullRequests()
    const known = after(pullRequest(), await go(host))
    if (base === 'other') host.change(1, { branches: { ...BRANCHES, base } })
    else host.held.pop()
    t.match(await go(host, known), {
      reason: 'UpToDate',
      message: /^#1 is not there any more, or joins other branches by now, .*; make another PullRequest/,
      pullRequest: { number: 1, url: URL, state: 'closed' },
      details: 'as before',
    })
    t.strictSame(host.calls, ['read 1', 'find all'])
  }
})

t.test('one that was merged before it went away stays merged', async (t) => {
  const host = memoryPullRequests()
  const known = after(pullRequest(), await go(host))
  host.change(1, { state: 'merged' })
  const merged = after(known, await go(host, known))
  host.held.pop()
  t.match(await go(host, merged), { pullRequest: { state: 'merged' } })
})

t.test('where another one joins the same branches instead, it is told of that', async (t) => {
  const host = memoryPullRequests()
  const known = after(pullRequest(), await go(host))
  host.change(1, { branches: { ...BRANCHES, base: 'other' } })
  host.hold()
  t.match(await go(host, known), { message: /^#2 was opened by somebody else/, pullRequest: { number: 2 } })
})

t.test('a changed spec changes title and body where nobody else has', async (t) => {
  const host = memoryPullRequests()
  const known = after(pullRequest(), await go(host))
  const next = changed(known, { title: 'Newer settings', body: 'Closes #13.' })
  t.match(await go(host, next), {
    reason: 'Succeeded',
    message: `Updated title and body of #1: ${URL}`,
    pullRequest: { number: 1, state: 'open' },
  })
  t.strictSame(host.calls, ['read 1', 'update 1'])
  t.match(host.held, [marked({ title: 'Newer settings', body: 'Closes #13.' }, UID)])
  t.match(await go(host, next), { reason: 'UpToDate', message: `#1 is open: ${URL}` })
  t.match(await go(host, changed(next, { body: '' })), { reason: 'Succeeded' })
})

t.test('what people have edited stays, and is told only where the spec says something else', async (t) => {
  for (const edit of [{ title: 'Better' }, { body: `More.\n${OURS.body}` }]) {
    const host = memoryPullRequests()
    const known = after(pullRequest(), await go(host))
    host.change(1, edit)
    const next = changed(known, { title: 'Newer settings' })
    for (const asked of [known, next]) {
      t.match(await go(host, asked), {
        reason: 'UpToDate',
        message: `#1 is open; somebody has edited its title or body, which are left so: ${URL}`,
      })
      t.strictSame(host.calls, ['read 1'])
    }
    t.match(host.held, [edit])
  }
})

t.test('where people have written what the spec says by now, nothing is amiss', async (t) => {
  const host = memoryPullRequests()
  const known = after(pullRequest(), await go(host))
  host.change(1, { title: 'Newer settings' })
  t.match(await go(host, changed(known, { title: 'Newer settings' })), { message: `#1 is open: ${URL}` })
})

t.test('one that somebody else has opened is adopted, and never written to', async (t) => {
  for (const body of ['', 'By hand.', marked({ title: 'By hand', body: '' }, '0000-other').body]) {
    const host = memoryPullRequests()
    host.hold({ body })
    const resource = pullRequest({ labels: ['settings'] })
    const adopted = await go(host, resource)
    t.match(adopted, {
      reason: 'UpToDate',
      message: `#1 was opened by somebody else, or has lost the mark of this PullRequest, and is left as it is: ${URL}`,
      pullRequest: { number: 1, state: 'open' },
      details: { applied: 'False', reason: 'NotOurs' },
    })
    await go(host, changed(after(resource, adopted), { title: 'Newer' }))
    t.strictSame(host.calls, ['read 1'])
    t.match(host.held, [{ title: 'By hand', body, details: { labels: [] } }])
  }
})

t.test('our own comes before that of others, an open one before what is over', async (t) => {
  const host = memoryPullRequests()
  host.hold({ ...OURS, state: 'closed' })
  host.hold()
  t.match(await go(host, pullRequest(), true), { pullRequest: { number: 1, state: 'closed' } })
  host.change(2, { state: 'merged' })
  host.hold(OURS)
  t.match(await go(host, pullRequest(), true), { pullRequest: { number: 3, state: 'open' } })
})

t.test('what others have merged or closed before is in nobody’s way', async (t) => {
  const host = memoryPullRequests()
  host.hold({ state: 'merged' })
  host.hold({ ...marked({ title: 'By hand', body: '' }, '0000-other'), state: 'closed' })
  t.match(await go(host, pullRequest(), true), { reason: 'Succeeded', pullRequest: { number: 3 } })
})

/** Somebody opens one between the look and the creation. */
function overtaken(text: Partial<typeof OURS>): MemoryPullRequests {
  const host = memoryPullRequests()
  host.before = (verb) => {
    if (verb === 'create') host.hold(text)
  }
  return host
}

t.test('where another was quicker, theirs is adopted', async (t) => {
  const host = overtaken({})
  t.match(await go(host, pullRequest({ reviewers: ['dev'] })), {
    reason: 'UpToDate',
    message: /#1 was opened by somebody else/,
    details: { reason: 'NotOurs' },
  })
  t.strictSame(host.calls, ['find open', 'create', 'find open'])
})

t.test(
  'where it was our own, from a request that came late, it is brought to what the spec says',
  async (t) => {
    const host = overtaken(marked({ title: 'Older settings', body: '' }, UID))
    t.match(await go(host, pullRequest({ labels: ['settings'] })), {
      message: `Updated title and body of #1: ${URL}`,
      details: { applied: 'True' },
    })
    t.match(host.held, [{ ...OURS, details: { labels: ['settings'] } }])
  },
)

t.test('a host that tells of one and shows none is asked again later', async (t) => {
  const host = memoryPullRequests()
  host.create = () => Promise.resolve('exists')
  await t.rejects(go(host), {
    reason: 'Conflict',
    retry: 'transient',
    message:
      'The host of https://github.com/acme/shop.git says that a pull request from feature to main is open, but shows none; it is tried again.',
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

t.test('title and body come before the details', async (t) => {
  const host = memoryPullRequests()
  host.hold(OURS)
  await go(host, pullRequest({ title: 'Newer', labels: ['settings'] }, { generation: 2 }))
  t.strictSame(host.calls, ['find all', 'update 1', 'add labels'])
})
