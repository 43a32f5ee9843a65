import t from 'tap'
import { joins, loginsIn, shownOf } from '../../../functions/providers/gitea/pull-request.ts'

const BASE_URL = 'https://git.example.com/api/v1'
const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
const PULL = {
  number: 7,
  title: 'Settings',
  body: 'text',
  state: 'open',
  merged: false,
  html_url: 'https://git.example.com/acme/shop/pulls/7',
  head: { label: 'settings', ref: 'settings', repo_id: 1 },
  base: { label: 'main', ref: 'main', repo_id: 1 },
}

t.test('a pull request is read', async (t) => {
  t.strictSame(shownOf(PULL, BASE_URL), {
    number: 7,
    url: 'https://git.example.com/acme/shop/pulls/7',
    state: 'open',
    title: 'Settings',
    body: 'text',
  })
  t.equal(shownOf({ ...PULL, state: 'closed' }, BASE_URL)?.state, 'closed')
  t.equal(shownOf({ ...PULL, state: 'closed', merged: true }, BASE_URL)?.state, 'merged')
  t.equal(shownOf({ ...PULL, body: null }, BASE_URL)?.body, '')
})

t.test('behind a proxy that does not tell Gitea of TLS, its own address is shown with HTTPS', async (t) => {
  const html_url = 'http://git.example.com/acme/shop/pulls/7'
  t.equal(shownOf({ ...PULL, html_url }, BASE_URL)?.url, PULL.html_url)
  t.equal(shownOf({ ...PULL, html_url }, BASE_URL.replace('https', 'http'))?.url, html_url)
})

t.test('an object without a part of a pull request is not one', async (t) => {
  const lacking: readonly object[] = [
    { number: '7' },
    { number: 0 },
    { number: 2 ** 53 },
    { title: undefined },
    { state: 'constructor' },
    { html_url: undefined },
    { html_url: 'javascript:alert(1)' },
    { html_url: 'http://www.example.com/acme/shop/pulls/7' },
    { html_url: 'http://git.example.com:8080/acme/shop/pulls/7' },
    { html_url: 'http://git.example.com@evil.example/acme/shop/pulls/7' },
  ]
  for (const part of lacking)
    t.equal(shownOf({ ...PULL, ...part }, BASE_URL), undefined, JSON.stringify(part))
  for (const other of [undefined, null, 7, 'text', []]) t.equal(shownOf(other, BASE_URL), undefined)
})

t.test('only the same branches of one repository match', async (t) => {
  const { head, base } = PULL
  t.ok(joins(PULL, BRANCHES))
  t.ok(joins({ ...PULL, head: { ...head, ref: 'refs/pull/7/head' } }, BRANCHES), 'the head is deleted')
  const others: readonly object[] = [
    { head: { ...head, label: 'Settings' } },
    { head: { ...head, label: '' } },
    { head: { ...head, repo_id: 2 } },
    { head: { ...head, repo_id: -1 }, base: { ...base, repo_id: -1 } },
    { head: { ...head, repo_id: undefined }, base: { ...base, repo_id: undefined } },
    { base: { ...base, label: 'release' } },
    { base: null },
  ]
  for (const part of others) t.notOk(joins({ ...PULL, ...part }, BRANCHES), JSON.stringify(part))
})

t.test('people are known by their user names, and teams are left out', async (t) => {
  t.strictSame(loginsIn([{ login: 'Dev' }, null, { name: 'team' }, { login: 'ops' }]), ['dev', 'ops'])
  t.strictSame(loginsIn(null), [])
})
