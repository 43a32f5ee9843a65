import t from 'tap'
import { joins, loginsIn, shownPull } from '../../../functions/providers/github/pull-request.ts'
import { pullBody } from '../../harness/hosts/github-bodies.ts'
import { addPull, memoryModel } from '../../harness/hosts/model.ts'
import type { ModelPull } from '../../harness/hosts/model.ts'
import { BRANCHES } from '../port-stage.ts'

const HOME = { owner: 'Acme', name: 'Shop' }
const BASE_URL = 'https://git.example.com/api/v3'

function pull(change: Partial<ModelPull> = {}): object {
  const model = memoryModel()
  const opened = addPull(model, { base: 'main', head: 'settings', title: 'Settings', ...change })
  return pullBody(opened, { model, place: { origin: 'https://git.example.com', apiPath: '/api/v3' } })
}

t.test('branches are compared exactly, owners and repositories in any case', async (t) => {
  const fork = { ...BRANCHES, headOwner: 'Dev' }
  t.equal(joins(pull(), BRANCHES, HOME), true)
  t.equal(joins(pull(), { ...BRANCHES, headOwner: 'ACME' }, HOME), true)
  t.equal(joins(pull({ headOwner: 'dev' }), fork, HOME), true)
  t.equal(joins(pull({ headOwner: 'dev' }), BRANCHES, HOME), false)
  t.equal(joins(pull({ headOwner: 'ops' }), fork, HOME), false)
  t.equal(joins(pull(), fork, HOME), false)
  t.equal(joins(pull(), { ...BRANCHES, base: 'Main' }, HOME), false)
  t.equal(joins(pull(), { ...BRANCHES, head: 'Settings' }, HOME), false)
  const market = { owner: 'acme', name: 'market' }
  t.equal(joins(pull(), BRANCHES, market), false)
  t.equal(joins(pull(), { ...BRANCHES, headOwner: 'acme' }, market), false, 'its owner may have both')
})

t.test('a fork that was deleted later is recognised by its owner', async (t) => {
  const head = { ref: 'settings', repo: null, user: { login: 'dev' } }
  const orphan = { ...pull({ headOwner: 'dev' }), head }
  t.equal(joins(orphan, { ...BRANCHES, headOwner: 'dev' }, HOME), true)
  t.equal(joins(orphan, { ...BRANCHES, headOwner: 'ops' }, HOME), false)
  t.equal(joins(orphan, BRANCHES, HOME), false, 'nor is it a branch of our own')
  const nobodys = { ...orphan, head: { ...head, user: null } }
  t.equal(joins(nobodys, { ...BRANCHES, headOwner: 'dev' }, HOME), false)
})

t.test('an answer without branches has neither these nor others', async (t) => {
  for (const odd of [
    undefined,
    null,
    7,
    'pull',
    [],
    {},
    { ...pull(), head: {} },
    { ...pull(), base: { ref: 1 } },
  ])
    t.equal(joins(odd, BRANCHES, HOME), undefined)
})

t.test('a pull request is open, merged or closed', async (t) => {
  const url = 'https://git.example.com/acme/shop/pull/1'
  for (const state of ['open', 'merged', 'closed'] as const)
    t.strictSame(shownPull(pull({ state, body: 'text' }), BASE_URL), {
      number: 1,
      url,
      title: 'Settings',
      body: 'text',
      state,
    })
  t.match(shownPull(pull(), BASE_URL), { body: '' }, 'GitHub writes null for an empty one')
})

t.test('an incomplete answer is not accepted', async (t) => {
  const changes = [
    { number: undefined },
    { number: '1' },
    { number: 0 },
    { number: 1.5 },
    { number: 2 ** 53 },
    { title: null },
    { state: 'unknown' },
    { html_url: null },
    { html_url: 'http://git.example.com/acme/shop/pull/1' },
    { html_url: 'ftp://git.example.com/acme/shop/pull/1' },
    { html_url: 'https://dev@git.example.com/acme/shop/pull/1' },
    { html_url: 'https://:secret@git.example.com/acme/shop/pull/1' },
    { html_url: 'https://git.example.com/acme/shop pull/1' },
    { html_url: `https://git.example.com/${'a'.repeat(8192)}` },
    { html_url: '/acme/shop/pull/1' },
  ]
  for (const change of changes)
    t.equal(shownPull({ ...pull(), ...change }, BASE_URL), undefined, JSON.stringify(change).slice(0, 70))
  t.match(shownPull(pull(), 'http://git.example.com/api/v3'), { number: 1 })
  const plain = { ...pull(), html_url: 'http://git.example.com/acme/shop/pull/1' }
  t.match(
    shownPull(plain, 'http://git.example.com/api/v3'),
    { number: 1 },
    'where the API is not on HTTPS either',
  )
})

t.test('logins are read in lower case, of users and of what has a user', async (t) => {
  t.strictSame(loginsIn([{ login: 'Dev' }, { user: { login: 'OPS' } }, { user: null }, 7]), ['dev', 'ops'])
  t.strictSame(loginsIn(undefined), [])
})
