import { inspect } from 'node:util'
import t from 'tap'
import type { FetchInit } from '../../../functions/domain/pull-request/pull-requests.ts'
import connect from '../../../functions/providers/github/index.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { REPOSITORY_ID } from '../../harness/hosts/github-bodies.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { endpointAt, startGitHub, withBody } from './stage.ts'
import { BRANCHES, DRAFT, LOGIN, TOKEN } from '../port-stage.ts'

const ID_PATH = `/repositories/${REPOSITORY_ID}`

t.test('a renamed repository is followed to its number, and queried under its present owner', async (t) => {
  const { host, model, work, lines } = await startGitHub(t)
  model.movedTo = ['market', 'store']
  addPull(model, { base: 'main', head: 'settings', title: 'old', state: 'merged' })
  await work(async (pulls) => {
    t.match(await pulls.find(BRANCHES, 'all'), [{ number: 1 }])
    t.match(await pulls.create(DRAFT), { number: 2, url: `${host.origin}/market/store/pull/2` })
  })
  t.strictSame(lines(), [
    'GET /repos/acme/shop/pulls',
    `GET ${ID_PATH}`,
    `GET ${ID_PATH}/pulls`,
    `POST ${ID_PATH}/pulls`,
  ])
  t.match(host.seen[2]?.path, /head=market%3Asettings/)
})

t.test('a POST that is redirected stays a POST', async (t) => {
  for (const status of [301, 302, 307, 308]) {
    const { host, model, work, lines } = await startGitHub(t)
    model.movedTo = ['market', 'store']
    host.fail({ kind: 'changed', change: (answer) => ({ ...answer, status }) })
    t.match(await work((pulls) => pulls.create(DRAFT)), { number: 1 })
    t.strictSame(lines(), ['POST /repos/acme/shop/pulls', `GET ${ID_PATH}`, `POST ${ID_PATH}/pulls`])
    t.equal(model.pulls.length, 1)
  }
})

t.test('no other redirect is followed', async (t) => {
  const { host, failure } = await startGitHub(t)
  const places = [
    'https://evil.example/api/v3/repositories/1/pulls',
    `${host.origin.replace('https', 'http')}/api/v3/repositories/1/pulls`,
    `${host.origin}/repositories/1/pulls`,
    `${host.origin}/api/v4/repositories/1/pulls`,
    `${host.origin}/api/v3/repositories/one/pulls`,
    `${host.origin}/api/v3/repositories/1x/pulls`,
    `${host.origin}/api/v3/repositories/0/pulls`,
    `${host.origin}/api/v3/repos/market/store/pulls`,
    `${host.origin}/api/v3/user`,
    '/api/v3/repositories/1/pulls',
    '',
  ]
  for (const location of places) {
    const before = host.seen.length
    host.fail({ kind: 'answer', answer: { status: 301, headers: { location }, body: {} } })
    const said = await failure((pulls) => pulls.find(BRANCHES, 'open'))
    t.match(said, { reason: 'RepositoryNotFound', message: /has moved/ }, location)
    t.equal(host.seen.length, before + 1, 'it is the last request')
  }
})

t.test('endless redirects of a repository are given up', async (t) => {
  const { host, model, failure } = await startGitHub(t)
  const location = `${host.baseURL}${ID_PATH}/pulls`
  const answer: HostAnswer = { status: 301, headers: { location }, body: {} }
  host.fail({ kind: 'answer', answer })
  host.fail({ kind: 'answer', answer }, (_method, path) => path === ID_PATH)
  t.match(await failure((pulls) => pulls.find(BRANCHES, 'open')), { reason: 'RepositoryNotFound' })
  t.equal(host.seen.length, 2)
  host.fail({ kind: 'answer', answer })
  host.fail({ kind: 'answer', answer }, (_method, path) => path === `${ID_PATH}/pulls`)
  t.match(await failure((pulls) => pulls.find(BRANCHES, 'open')), { reason: 'RepositoryNotFound' })
  t.equal(host.seen.length, 5)
  model.movedTo = ['market', 'store']
  const said = await failure(async (pulls) => {
    await pulls.find(BRANCHES, 'open')
    host.fail({ kind: 'answer', answer })
    await pulls.create(DRAFT)
  })
  t.match(said, { reason: 'RepositoryNotFound', message: /has moved/ })
  t.equal(host.seen.at(-1)?.method, 'POST', 'nothing is asked after it')
})

t.test('the answer to a number has to have that number', async (t) => {
  for (const change of [{ id: 7 }, { full_name: 'market' }, { full_name: 'a/b/c' }, { full_name: 1 }]) {
    const { host, model, failure } = await startGitHub(t)
    model.movedTo = ['market', 'store']
    host.fail({ kind: 'changed', change: withBody(change) }, (_method, path) => path === ID_PATH)
    const said = await failure((pulls) => pulls.find(BRANCHES, 'open'))
    t.match(said, { reason: 'ProviderUnavailable' }, JSON.stringify(change))
    t.equal(host.seen.length, 2)
  }
})

t.test('the version is sent to hosts that know it, and the token is sent as it is', async (t) => {
  const hosts = [
    { baseURL: 'https://api.github.com', version: '2022-11-28' },
    { baseURL: 'https://api.acme.ghe.com', version: '2022-11-28' },
    { baseURL: 'https://git.example.com/api/v3', version: undefined },
    { baseURL: 'https://api.github.com.example.com/api/v3', version: undefined },
  ]
  for (const { baseURL, version } of hosts) {
    const calls: { readonly url: string; readonly init: FetchInit }[] = []
    const endpoint = endpointAt(baseURL, (url, init) => {
      calls.push({ url, init })
      return Promise.resolve(Response.json([]))
    })
    await connect(endpoint, LOGIN).find(BRANCHES, 'open')
    t.equal(calls.length, 1)
    t.ok(calls[0]?.url.startsWith(`${baseURL}/repos/acme/shop/pulls?`))
    const headers = calls[0]?.init.headers ?? {}
    t.equal(headers['x-github-api-version'], version, baseURL)
    t.equal(headers.accept, 'application/vnd.github+json')
    t.equal(headers.authorization, `token ${TOKEN}`)
    t.match(headers['user-agent'], /^commitlet /)
  }
})

t.test('the library prints nothing, and its errors are never shown', async (t) => {
  const { host, failure } = await startGitHub(t)
  const errors = t.capture(process.stderr, 'write')
  const logs = t.capture(console, 'log')
  const headers = { deprecation: 'true', sunset: 'soon', link: '<https://a.example>; rel="deprecation"' }
  const faults = [
    { kind: 'answer', answer: { status: 500, headers, body: { message: TOKEN } } },
    { kind: 'answer', answer: { status: 422, body: { message: `not ${TOKEN}` } } },
    { kind: 'answer', answer: { status: 200, headers, body: '{"number": 1' } },
    { kind: 'lost answer' },
  ] as const
  for (const fault of faults) {
    host.fail(fault)
    const said = await failure((pulls) => pulls.create(DRAFT))
    t.notMatch(inspect(said, { depth: 20, showHidden: true }), /good-token|HttpError|authorization/i)
  }
  t.strictSame([...errors(), ...logs()], [])
})
