import t from 'tap'
import { member } from '../../../functions/domain/json-value.ts'
import { LITERAL, said } from '../../harness/hosts/github-literal.ts'
import { APP_ID, appOf, makeAppKey, startAppHost } from './app-stage.ts'

t.test('a token is asked for with the repository and the permissions that the kind needs', async (t) => {
  const { ask, host, apps } = await startAppHost(t)
  const { token, installation, seconds } = await ask()
  t.ok(token.length > 500, 'tokens are long')
  t.equal(installation, '81')
  t.ok(seconds > 3_500 && seconds <= 3_600, `${seconds} s`)
  await ask(undefined, 'PullRequest')
  t.strictSame(
    host.seen.map(({ method, path, body }) => [
      method,
      path,
      member(body, 'repositories'),
      member(body, 'permissions'),
    ]),
    [
      ['GET', '/repos/acme/shop/installation', undefined, undefined],
      ['POST', '/app/installations/81/access_tokens', ['shop'], { contents: 'write' }],
      ['GET', '/repos/acme/shop/installation', undefined, undefined],
      ['POST', '/app/installations/81/access_tokens', ['shop'], { pull_requests: 'write', contents: 'read' }],
    ],
  )
  t.strictSame(
    apps.issued.map(({ repository }) => repository),
    ['acme/shop', 'acme/shop'],
  )
})

t.test('an installation that the Secret names is not looked for', async (t) => {
  const { ask, host, privateKey } = await startAppHost(t)
  t.match(await ask(appOf(privateKey, APP_ID, '81')), { installation: '81' })
  t.strictSame(
    host.seen.map(({ path }) => path),
    ['/app/installations/81', '/app/installations/81/access_tokens'],
  )
})

t.test('a clock that is wrong by some minutes is made up for with the time of the host', async (t) => {
  const { ask, host } = await startAppHost(t)
  const asked: [number, number][] = [
    [-8 * 60, 0],
    [-58, 0],
    [0, 0],
    // As many as are known to be refused are asked again: the look-up and the token.
    [58, 0],
    [30 * 60, 2],
    [-30 * 60, 2],
  ]
  for (const [seconds, refused] of asked) {
    host.seen.length = 0
    const now = new Date(Date.now() + seconds * 1_000)
    t.match(await ask(undefined, 'GitCommit', now), { installation: '81' }, `${seconds} s`)
    t.equal(host.seen.filter(({ status }) => status === 401).length, refused, `${seconds} s`)
  }
})

t.test('a host whose clock is hours ahead gets no token for its time', async (t) => {
  const { failure, apps } = await startAppHost(t)
  const now = Math.floor(Date.now() / 1_000)
  apps.now = () => now + 7_200
  t.match(await failure(), { reason: 'AuthenticationFailed', message: /the clock/ })
})

t.test('a clock of which the host does not tell the difference', async (t) => {
  const { failure, host } = await startAppHost(t)
  const answer = said(
    401,
    "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
  )
  for (let asked = 0; asked < 2; asked += 1) host.fail({ kind: 'answer', answer })
  const { reason, message } = await failure(undefined, 'GitCommit', new Date(Date.now() + 3_600_000))
  t.equal(reason, 'AuthenticationFailed')
  t.match(
    message,
    /because of its time \(401\): the clock of the Kubernetes API server.* is 3(?:599|600|601) s ahead of/,
  )
})

const ROWS: readonly (readonly [
  title: string,
  make: (stage: Awaited<ReturnType<typeof startAppHost>>) => Parameters<(typeof stage)['failure']>,
  reason: string,
  says: RegExp,
])[] = [
  [
    'that is not installed there',
    ({ apps }) => (apps.installations.splice(0), []),
    'RepositoryNotFound',
    /^The GitHub App of the Secret team\/app is not installed for https:\S+\/acme\/shop\.git, or that repository does not exist \(404\); have the owner of acme install it/,
  ],
  [
    'that is suspended',
    ({ installation }) => ((installation.suspended = true), []),
    'PermissionDenied',
    /is suspended at acme; have its owner unsuspend it/,
  ],
  [
    'that is suspended in between',
    ({ host }) => {
      const answer = said(403, 'This installation has been suspended')
      host.fail({ kind: 'answer', answer }, (method) => method === 'POST')
      return []
    },
    'PermissionDenied',
    /is suspended at acme/,
  ],
  [
    'without a permission',
    ({ installation }) => (delete installation.permissions['contents'], []),
    'PermissionDenied',
    /lacks the permission Contents \(read and write\) at acme; add it under "Permissions & events"/,
  ],
  [
    'that may only read',
    ({ installation }) => ((installation.permissions['pull_requests'] = 'read'), [undefined, 'PullRequest']),
    'PermissionDenied',
    /lacks the permission Pull requests \(read and write\) at acme/,
  ],
  [
    'whose permissions GitHub does not grant',
    ({ host }) => {
      const answer = said(422, 'The permissions requested are not granted to this installation.')
      host.fail({ kind: 'answer', answer }, (method) => method === 'POST')
      return [undefined, 'PullRequest']
    },
    'PermissionDenied',
    /lacks the permission Pull requests \(read and write\) and Contents \(read-only\) at acme/,
  ],
  [
    'whose installation does not include the repository',
    ({ privateKey, installation }) => (
      installation.repositories.splice(0, 1),
      [appOf(privateKey, APP_ID, '81')]
    ),
    'RepositoryNotFound',
    /is not installed for https:\S+\/acme\/shop\.git; select that repository/,
  ],
  [
    'with the key of another App',
    () => [appOf(makeAppKey(), APP_ID)],
    'AuthenticationFailed',
    /\(401\): its private key belongs to another App, or was deleted there; generate .*\(privateKeyKey\)/,
  ],
  [
    'with an ID that nobody has',
    ({ privateKey }) => [appOf(privateKey, '999')],
    'AuthenticationFailed',
    /is not known at localhost:\d+ \(404\); take the App ID/,
  ],
  [
    'that names an installation at another account',
    ({ privateKey, apps, installation }) => {
      apps.installations.push({ ...installation, id: 82, account: 'evil' })
      return [appOf(privateKey, APP_ID, '82')]
    },
    'CredentialsInvalid',
    /names an installation \(installationIDKey\) at another account than acme/,
  ],
  [
    'that names the installation of another App',
    ({ apps }) => {
      const evil = makeAppKey()
      apps.keys.set('666', appOf(evil, '666').key)
      return [appOf(evil, '666', '81')]
    },
    'RepositoryNotFound',
    /has no installation with the number that it names \(installationIDKey; 404\)/,
  ],
  [
    'whose repository has moved',
    ({ host }) => (host.fail({ kind: 'answer', answer: { status: 301, body: {} } }), []),
    'RepositoryNotFound',
    /has moved to another address/,
  ],
  [
    'for which the host refuses without a word',
    ({ host }) => (host.fail({ kind: 'answer', answer: said(403, 'No.') }), []),
    'PermissionDenied',
    /is issued no token for https:\S+ \(403\)/,
  ],
  [
    'on an IP allow list',
    ({ host }) => (
      host.fail({
        kind: 'answer',
        answer: said(403, 'The `acme` organization has an IP allow list enabled'),
      }),
      []
    ),
    'PermissionDenied',
    /has an IP allow list that does not contain/,
  ],
  [
    'of a host that cannot answer',
    ({ host }) => (host.fail({ kind: 'answer', answer: said(502, 'Bad gateway') }), []),
    'ProviderUnavailable',
    /cannot answer at the moment \(502\)/,
  ],
  [
    'whose installation is shown without its permissions',
    ({ host }) => {
      const change = ({ status }: { body: unknown; status: number }) => ({ status, body: { id: 81 } })
      host.fail({ kind: 'changed', change })
      return []
    },
    'ProviderUnavailable',
    /does not match its documentation/,
  ],
  [
    'whose token is one for another repository',
    ({ host }) => {
      const change = (answer: { body: unknown; status: number }) => ({
        ...answer,
        body: { ...(answer.body as object), repositories: [{ id: 1, full_name: 'evil/shop' }] },
      })
      host.fail({ kind: 'changed', change }, (method) => method === 'POST')
      return []
    },
    'RepositoryNotFound',
    /is not installed for/,
  ],
  [
    'whose token is one for all repositories',
    ({ host }) => {
      const change = (answer: { body: unknown; status: number }) => ({
        ...answer,
        body: { ...(answer.body as object), repositories: undefined },
      })
      host.fail({ kind: 'changed', change }, (method) => method === 'POST')
      return []
    },
    'ProviderUnavailable',
    /does not match its documentation/,
  ],
]

for (const [title, make, reason, says] of ROWS)
  t.test(`an App ${title}`, async (t) => {
    const stage = await startAppHost(t)
    const failed = await stage.failure(...make(stage))
    t.match(failed, { reason })
    t.match(failed.message, says)
    t.notMatch(failed.message, /ghs_|PRIVATE KEY|eyJ/)
  })

t.test('a rate limit has the time of the host', async (t) => {
  const { failure, host } = await startAppHost(t)
  host.fail({ kind: 'answer', answer: LITERAL.rateLimited(120) })
  t.match(await failure(), { reason: 'RateLimited', retryAfterSeconds: 120 })
})

t.test('two Apps that name the same installation at once never get the same token', async (t) => {
  const { ask, apps, privateKey } = await startAppHost(t)
  const evil = makeAppKey()
  apps.keys.set('666', appOf(evil, '666').key)
  const [own, other] = await Promise.allSettled([
    ask(appOf(privateKey, APP_ID, '81')),
    ask(appOf(evil, '666', '81')),
  ])
  t.equal(own.status, 'fulfilled')
  t.match(other, { status: 'rejected', reason: { reason: 'RepositoryNotFound' } })
  t.equal(apps.issued.length, 1)
})
