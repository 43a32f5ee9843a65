import t from 'tap'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import { marked } from '../../functions/domain/pull-request/marker.ts'
import { pullRequest, UID } from '../domain/fixtures/pullrequest.ts'
import { memoryPullRequests } from '../harness/memory-pull-requests.ts'
import type { MemoryPullRequests } from '../harness/memory-pull-requests.ts'
import { after, changed, go, OURS, URL } from './stage.ts'

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

t.test('what people have edited stays, and is reported only where the spec differs', async (t) => {
  for (const edit of [{ title: 'Better' }, { body: `More.\n${OURS.body}` }]) {
    const host = memoryPullRequests()
    const known = after(pullRequest(), await go(host))
    host.change(1, edit)
    const next = changed(known, { title: 'Newer settings' })
    for (const asked of [known, next]) {
      t.match(await go(host, asked), {
        reason: 'UpToDate',
        message: `#1 is open; someone has edited its title or body, which are left unchanged: ${URL}`,
      })
      t.strictSame(host.calls, ['read 1'])
    }
    t.match(host.held, [edit])
  }
})

t.test('once an edit is undone, title and body follow the spec again', async (t) => {
  const host = memoryPullRequests()
  const resource = changed(after(pullRequest(), await go(host)), { title: 'Newer' })
  host.change(1, { title: 'Better' })
  t.match(await go(host, resource), { reason: 'UpToDate', message: /someone has edited/ })
  host.change(1, { title: OURS.title })
  t.match(await go(host, resource), { reason: 'Succeeded', message: /^Updated title/ })
  t.match(host.held, [{ title: 'Newer' }])
})

t.test(
  'an older text of ours, which the host has written late, is replaced by the next attempt',
  async (t) => {
    const host = memoryPullRequests()
    const two = changed(after(pullRequest(), await go(host)), { title: 'Two' })
    await go(host, two)
    const three = changed(after(two, await go(host, two)), { title: 'Three' })
    await go(host, three)
    host.change(1, marked({ title: 'Two', body: pullRequest().spec.body ?? '' }, UID))
    t.match(await go(host, three), { reason: 'Succeeded', message: /^Updated title/ })
    t.match(host.held, [{ title: 'Three' }])
  },
)

t.test('an edit that equals the spec is not reported', async (t) => {
  const host = memoryPullRequests()
  const known = after(pullRequest(), await go(host))
  host.change(1, { title: 'Newer settings' })
  t.match(await go(host, changed(known, { title: 'Newer settings' })), { message: `#1 is open: ${URL}` })
})

t.test('one that another user has opened is adopted, and never written to', async (t) => {
  for (const body of ['', 'By hand.', marked({ title: 'By hand', body: '' }, '0000-other').body]) {
    const host = memoryPullRequests()
    host.hold({ body })
    const resource = pullRequest({ labels: ['settings'] })
    const adopted = await go(host, resource)
    t.match(adopted, {
      reason: 'UpToDate',
      message: `#1 was opened by someone else, or has lost the marker of this PullRequest, and is left unchanged: ${URL}`,
      pullRequest: { number: 1, state: 'open' },
      details: { applied: 'False', reason: 'NotOurs' },
    })
    await go(host, changed(after(resource, adopted), { title: 'Newer' }))
    t.strictSame(host.calls, ['read 1'])
    t.match(host.held, [{ title: 'By hand', body, details: { labels: [] } }])
  }
})

t.test('our own comes before that of others, an open one before a closed one', async (t) => {
  const host = memoryPullRequests()
  host.hold({ ...OURS, state: 'closed' })
  host.hold()
  t.match(await go(host, pullRequest(), true), { pullRequest: { number: 1, state: 'closed' } })
  host.change(2, { state: 'merged' })
  host.hold(OURS)
  t.match(await go(host, pullRequest(), true), { pullRequest: { number: 3, state: 'open' } })
})

t.test('pull requests that others have merged or closed before do not matter', async (t) => {
  const host = memoryPullRequests()
  host.hold({ state: 'merged' })
  host.hold({ ...marked({ title: 'By hand', body: '' }, '0000-other'), state: 'closed' })
  t.match(await go(host, pullRequest(), true), { reason: 'Succeeded', pullRequest: { number: 3 } })
})

/** Another user opens one between search and creation. */
function overtaken(text: Partial<typeof OURS>): MemoryPullRequests {
  const host = memoryPullRequests()
  host.before = (verb) => {
    if (verb === 'create') host.hold(text)
  }
  return host
}

t.test('where another user was quicker, their pull request is adopted', async (t) => {
  const host = overtaken({})
  t.match(await go(host, pullRequest({ reviewers: ['dev'] })), {
    reason: 'UpToDate',
    message: /#1 was opened by someone else/,
    details: { reason: 'NotOurs' },
  })
  t.strictSame(host.calls, ['find open', 'create', 'find open'])
})

t.test('where the host has replaced the text of one that was open, the status says so', async (t) => {
  const host = memoryPullRequests()
  const create: PullRequests['create'] = async (draft) => {
    const created = await host.create(draft)
    return created === 'exists' ? created : { ...created, replaced: true }
  }
  const outcome = await go({ ...host, create })
  t.match(outcome, { reason: 'Succeeded', pullRequest: { number: 1, state: 'open' } })
  t.match(outcome.message, /^#1 was open already .* has replaced its title and body .*: https:/)
  t.notMatch(outcome.message, 'Opened')
})

t.test('where it is our own, from a late request, it is updated to the spec', async (t) => {
  const host = overtaken(marked({ title: 'Older settings', body: '' }, UID))
  t.match(await go(host, pullRequest({ labels: ['settings'] })), {
    message: `Updated title and body of #1: ${URL}`,
    details: { applied: 'True' },
  })
  t.match(host.held, [{ ...OURS, details: { labels: ['settings'] } }])
})

t.test('title and body come before the details', async (t) => {
  const host = memoryPullRequests()
  host.hold(OURS)
  await go(host, pullRequest({ title: 'Newer', labels: ['settings'] }, { generation: 2 }))
  t.strictSame(host.calls, ['find all', 'update 1', 'add labels'])
})
