import t from 'tap'
import {
  isOlder,
  reviewersIn,
  joins,
  reviewerNamed,
  shownOf,
  writtenOf,
} from '../../../functions/providers/bitbucket/pull-request.ts'

const BASE_URL = 'https://api.bitbucket.org/2.0'
const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
const SHOP = { full_name: 'acme/shop' }
const PULL = {
  id: 7,
  title: 'Settings',
  description: 'text',
  state: 'OPEN',
  source: { branch: { name: 'settings' }, repository: SHOP },
  destination: { branch: { name: 'main' }, repository: SHOP },
  links: { html: { href: 'https://bitbucket.org/acme/shop/pull-requests/7' } },
}

t.test('a pull request is read', async (t) => {
  t.strictSame(shownOf(PULL, BASE_URL), {
    number: 7,
    url: 'https://bitbucket.org/acme/shop/pull-requests/7',
    state: 'open',
    title: 'Settings',
    body: 'text',
  })
})

t.test(
  'one that was created longer before its last change than the request took is older than that',
  async (t) => {
    const [created, written] = ['2026-11-21T10:00:00.250000+00:00', '2026-11-21T10:00:01.000000+00:00']
    t.equal(isOlder({ created_on: created, updated_on: written }, 749), true)
    t.equal(isOlder({ created_on: created, updated_on: written }, 750), false)
    t.equal(isOlder({ created_on: created, updated_on: created }, 0), false)
    for (const unread of [undefined, null, 5, 'soon']) {
      t.equal(isOlder({ created_on: unread, updated_on: written }, 0), false)
      t.equal(isOlder({ created_on: created, updated_on: unread }, 0), false)
    }
  },
)

t.test(
  'drafts and those that wait for their merge are open, and what was declined or replaced is closed',
  async (t) => {
    const states = ['OPEN', 'DRAFT', 'QUEUED', 'MERGED', 'DECLINED', 'SUPERSEDED']
    t.strictSame(
      states.map((state) => shownOf({ ...PULL, state }, BASE_URL)?.state),
      ['open', 'open', 'open', 'merged', 'closed', 'closed'],
    )
  },
)

t.test('the body is in the summary where it has no field of its own', async (t) => {
  t.equal(shownOf({ ...PULL, description: undefined, summary: { raw: 'raw' } }, BASE_URL)?.body, 'raw')
  t.equal(shownOf({ ...PULL, description: null, summary: null }, BASE_URL)?.body, '')
})

t.test('an object without a part of a pull request is not one', async (t) => {
  const lacking: readonly object[] = [
    { id: '7' },
    { id: 0 },
    { id: 2 ** 53 },
    { title: undefined },
    { state: 'constructor' },
    { state: undefined },
    { links: undefined },
  ]
  for (const part of lacking)
    t.equal(shownOf({ ...PULL, ...part }, BASE_URL), undefined, JSON.stringify(part))
  for (const other of [undefined, null, 7, 'text', []]) t.equal(shownOf(other, BASE_URL), undefined)
})

t.test('a web address that is not one of the host is not shown', async (t) => {
  const addresses = [
    'http://bitbucket.org/acme/shop/pull-requests/7',
    'https://evil.example/acme/shop/pull-requests/7',
    'https://bitbucket.org.evil.example/',
    'https://user:word@bitbucket.org/acme/shop/pull-requests/7',
    'javascript:alert(1)',
    'https://bitbucket.org/acme\n/shop',
    'https://bitbucket.org/acme\u202e/shop',
    `https://bitbucket.org/${'a'.repeat(8_192)}`,
    '/acme/shop/pull-requests/7',
  ]
  for (const href of addresses) {
    t.equal(shownOf({ ...PULL, links: { html: { href } } }, BASE_URL), undefined, href.slice(0, 60))
  }
})

t.test('only the same branches of one repository match', async (t) => {
  const { source, destination } = PULL
  t.ok(joins(PULL, BRANCHES))
  t.ok(joins({ ...PULL, source: { ...source, repository: { full_name: 'Acme/Shop' } } }, BRANCHES))
  const others: readonly object[] = [
    { source: { ...source, branch: { name: 'Settings' } } },
    { source: { ...source, branch: null } },
    { source: { ...source, repository: { full_name: 'dev/shop' } } },
    { source: { ...source, repository: null } },
    { source: { ...source, repository: null }, destination: { ...destination, repository: null } },
    { destination: { ...destination, branch: { name: 'release' } } },
    { destination: undefined },
  ]
  for (const part of others) t.notOk(joins({ ...PULL, ...part }, BRANCHES), JSON.stringify(part))
})

t.test('fields that a PUT would empty are written as they are', async (t) => {
  const reviewers = [
    { type: 'user', uuid: '{1}', account_id: '5:1', display_name: 'dev' },
    { type: 'user', account_id: '5:2' },
  ]
  t.strictSame(writtenOf({ ...PULL, reviewers, draft: true, close_source_branch: false }), {
    title: 'Settings',
    description: 'text',
    reviewers: [{ uuid: '{1}' }, { account_id: '5:2' }],
    draft: true,
    close_source_branch: false,
  })
  t.strictSame(writtenOf({ ...PULL, draft: null }), { title: 'Settings', description: 'text', reviewers: [] })
})

t.test('people are known by UUID or by account ID', async (t) => {
  const pull = { reviewers: [{ uuid: '{AB}', account_id: '5:1' }] }
  const reviewers = reviewersIn(pull)
  t.ok(reviewers.has('{ab}'))
  t.ok(reviewers.has('5:1'))
  t.notOk(reviewers.has('5:2'))
  t.equal(reviewersIn({}).size, 0)
  t.strictSame(reviewerNamed('{ab}'), { uuid: '{ab}' })
  t.strictSame(reviewerNamed('5:1'), { account_id: '5:1' })
})
