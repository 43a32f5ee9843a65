import t from 'tap'
import {
  joins,
  listIn,
  objectIn,
  shownIn,
  withBody,
} from '../../../functions/providers/gitlab/pull-request.ts'
import { failureOf } from '../../domain/fixtures/thrown.ts'

const SPEAKER = {
  shown: 'https://gitlab.example.com/acme/shop.git',
  secrets: [],
  baseURL: 'https://gitlab.example.com/api/v4',
}
const ANSWER = { status: 200, headers: new Headers(), data: undefined }
const WEB = 'https://gitlab.example.com/acme/shop/-/merge_requests/7'
const MERGE = {
  id: 9007,
  iid: 7,
  title: 'Settings',
  description: 'one\r\n\\/close',
  state: 'opened',
  target_branch: 'main',
  source_branch: 'settings',
  source_project_id: 42,
  target_project_id: 42,
  web_url: WEB,
}
const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }

t.test('a merge request is read, its body as it was written', async (t) => {
  t.strictSame(withBody(shownIn(MERGE, ANSWER, SPEAKER)), {
    number: 7,
    url: WEB,
    state: 'open',
    title: 'Settings',
    body: 'one\n/close',
    base: 'main',
    head: 'settings',
    own: true,
    project: 42,
  })
  t.equal(shownIn({ ...MERGE, description: null }, ANSWER, SPEAKER).body, '')
})

for (const [state, shown] of [
  ['opened', 'open'],
  ['locked', 'open'],
  ['merged', 'merged'],
  ['closed', 'closed'],
] as const) {
  t.test(`${state} is ${shown}`, async (t) => {
    t.equal(shownIn({ ...MERGE, state }, ANSWER, SPEAKER).state, shown)
  })
}

for (const change of [
  { iid: undefined },
  { iid: '7' },
  { iid: 0 },
  { iid: 1.5 },
  { iid: 2 ** 53 },
  { state: 'draft' },
  { state: 'constructor' },
  { title: null },
  { target_branch: 7 },
  { source_branch: undefined },
  { target_project_id: undefined },
  { web_url: undefined },
  { web_url: 'javascript:alert(1)' },
  { web_url: 'http://gitlab.example.com/acme/shop/-/merge_requests/7' },
  { web_url: 'https://me:s3cret@gitlab.example.com/' },
  { web_url: 'https://me@gitlab.example.com/' },
  { web_url: `${WEB}\n` },
  { web_url: `${WEB}?${'x'.repeat(8192)}` },
]) {
  t.test(`${JSON.stringify(change).slice(0, 80)} is not accepted`, async (t) => {
    const failure = failureOf(() => shownIn({ ...MERGE, ...change }, ANSWER, SPEAKER))
    t.match(failure, { reason: 'ProviderUnavailable', message: /match its documentation/ })
  })
}

t.test('over HTTP the web address may be one of HTTP', async (t) => {
  const url = 'http://gitlab.internal:8080/acme/shop/-/merge_requests/7'
  const context = { ...SPEAKER, baseURL: 'http://gitlab.internal:8080/api/v4' }
  t.equal(shownIn({ ...MERGE, web_url: url }, ANSWER, context).url, url)
})

for (const [what, change, expected] of [
  ['these branches', {}, true],
  ['another base', { target_branch: 'main-2' }, false],
  ['a head of another case', { source_branch: 'Settings' }, false],
  ['the head of a fork', { source_project_id: 77 }, false],
  ['the head of a fork that was deleted', { source_project_id: null }, false],
  ['the head of no project at all', { source_project_id: undefined }, false],
] as const) {
  t.test(`one with ${what} ${expected ? 'joins' : 'does not join'} them`, async (t) => {
    const shown = shownIn({ ...MERGE, ...change }, ANSWER, SPEAKER)
    t.equal(joins(shown, BRANCHES), expected)
    t.equal(joins(shown, { ...BRANCHES, headOwner: 'dev' }), false)
  })
}

t.test('a list and an object are accepted only with the status 200', async (t) => {
  t.strictSame(listIn({ ...ANSWER, data: [1] }, SPEAKER), [1])
  t.strictSame(objectIn({ ...ANSWER, data: { a: 1 } }, SPEAKER), { a: 1 })
  for (const data of [null, '<html>', 7, undefined, { message: 'x' }])
    t.match(
      failureOf(() => listIn({ ...ANSWER, data }, SPEAKER)),
      { reason: 'ProviderUnavailable' },
    )
  for (const data of [null, '<html>', 7, undefined, []])
    t.match(
      failureOf(() => objectIn({ ...ANSWER, data }, SPEAKER)),
      { reason: 'ProviderUnavailable' },
    )
  t.match(
    failureOf(() => listIn({ ...ANSWER, status: 202, data: [] }, SPEAKER)),
    {
      reason: 'ProviderUnavailable',
    },
  )
})
