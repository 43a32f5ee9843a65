import t from 'tap'
import { guardedPullRequests } from '../../../functions/domain/pull-request/guarded-pull-requests.ts'
import type { PullRequests, ShownPullRequest } from '../../../functions/domain/pull-request/pull-requests.ts'

const SECRET = 'Zq7TokenOfTheTeam9x'
const SHOWN = 'https://git.example.com/acme/shop.git'
const WEB = 'https://git.example.com/acme/shop/pull/7'
const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
const DRAFT = { branches: BRANCHES, title: 'Settings', body: '', draft: false }

function guarded(url: string, username?: string, sent?: readonly string[]): PullRequests {
  const pull: ShownPullRequest = { number: 7, url, state: 'open', title: 'Settings', body: '' }
  const pullRequests: PullRequests = {
    find: () => Promise.resolve([pull]),
    read: () => Promise.resolve(pull),
    create: () => Promise.resolve(pull),
    update: () => Promise.resolve(),
    add: (_number, _detail, names) => Promise.resolve(names),
  }
  // The Secret holds other values too, which occur in every address.
  const login = { username, secret: SECRET, identity: 'x', secrets: ['acme', 'shop', SECRET] }
  return guardedPullRequests(pullRequests, { login, sent, shown: SHOWN })
}

const VERBS: Readonly<Record<string, (port: PullRequests) => Promise<unknown>>> = {
  find: (port) => port.find(BRANCHES, 'all'),
  read: (port) => port.read(7, BRANCHES),
  create: (port) => port.create(DRAFT),
}
const PAIR = Buffer.from(`dev:${SECRET}`).toString('base64')

for (const [verb, call] of Object.entries(VERBS)) {
  t.test(`${verb} returns no address that holds the login`, async (t) => {
    for (const url of [`${WEB}?t=${SECRET}`, `https://${SECRET}.example.com/7`, `${WEB}#${PAIR}`]) {
      const doomed = call(guarded(url, 'dev'))
      await t.rejects(doomed, { name: 'Failure', reason: 'ProviderUnavailable', message: /#7 at an address/ })
      const said = await doomed.catch(String)
      t.notMatch(said, new RegExp(`${SECRET}|${PAIR}`, 'i'))
    }
    await t.rejects(call(guarded(`${WEB}?t=${SECRET}`)), { message: /contains the token/ })
  })

  t.test(`${verb} returns no address that holds what was sent with other credentials before`, async (t) => {
    const doomed = call(guarded(`${WEB}?t=TokenBefore42`, undefined, ['TokenBefore42']))
    await t.rejects(doomed, { reason: 'ProviderUnavailable', message: /#7 at an address/ })
  })

  t.test(`${verb} returns a valid address that holds other values of the Secret`, async (t) => {
    t.match([await call(guarded(WEB, 'acme'))].flat(), [{ number: 7, url: WEB }])
  })
}

t.test('the other verbs, and what is not there, pass', async (t) => {
  const port = guarded(WEB)
  t.strictSame(await port.add(7, 'labels', ['a']), ['a'])
  await t.resolves(port.update({ number: 7, url: WEB, state: 'open', title: '', body: '' }, DRAFT))
  const none = {
    ...port,
    read: () => Promise.resolve(undefined),
    create: () => Promise.resolve('exists' as const),
  }
  const login = { username: undefined, secret: SECRET, identity: 'x', secrets: [] }
  const empty = guardedPullRequests(none, { login, shown: SHOWN })
  t.equal(await empty.read(7, BRANCHES), undefined)
  t.equal(await empty.create(DRAFT), 'exists')
})
