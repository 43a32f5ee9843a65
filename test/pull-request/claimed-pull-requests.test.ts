import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { PullRequests, ShownPullRequest } from '../../functions/domain/pull-request/pull-requests.ts'
import { claimedPullRequests } from '../../functions/pull-request/claimed-pull-requests.ts'

const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
const SHOWN: ShownPullRequest = {
  number: 1,
  url: 'https://git.example.com/1',
  title: '',
  body: '',
  state: 'open',
}

t.test('no write is made without a confirmed claim, and every read is', async (t) => {
  const made: string[] = []
  const make =
    <T>(name: string, result: T) =>
    async (): Promise<T> => {
      made.push(name)
      return result
    }
  const host: PullRequests = {
    find: make('find', []),
    read: make('read', undefined),
    create: make('create', SHOWN),
    update: make('update', undefined),
    add: make('add', []),
  }
  const lost = new Failure('Conflict', 'Another attempt has taken over.')
  const claimed = claimedPullRequests(host, { confirm: () => Promise.reject(lost), remaining: () => 0 })
  await claimed.find(BRANCHES, 'open')
  await claimed.read(1, BRANCHES)
  await t.rejects(claimed.create({ branches: BRANCHES, title: '', body: '', draft: false }), lost)
  await t.rejects(claimed.update(SHOWN, { title: 'old', body: '' }), lost)
  await t.rejects(claimed.add(1, 'labels', ['old']), lost)
  t.same(made, ['find', 'read'])
})
