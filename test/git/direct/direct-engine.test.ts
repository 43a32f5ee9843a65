import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { openDirectEngine } from '../../../functions/git/direct/direct-engine.ts'
import type { Remote } from '../../../functions/git/remote.ts'
import { openSSHSessions } from '../../../functions/git/ssh/sessions.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import type { Fault, Target } from '../../harness/git-faults.ts'
import type { RepositoryOptions } from '../../harness/git-repository.ts'
import { changeOf, loginOf, openStage, outcomeOf, PASSWORD, patience, REACHED } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

// What both engines do is tested in contract/.
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

let count = 0
async function readWith(fault: Fault | undefined, target: Target, options: RepositoryOptions = {}) {
  const repository = await server.createRepository(`direct/${++count}`, options)
  const heal =
    fault === undefined ? undefined : server.faults.add(fault, { repository: repository.name, ...target })
  const work = stage.remote('direct', repository.url, async (remote) => {
    const tip = await remote.readTip({ branch: 'main' })
    return tip === 'moved' ? tip : remote.readTree(tip, ['README.md'])
  })
  const ended: unknown = await work.catch((error: unknown) => error)
  heal?.()
  return ended
}

const BROKEN_PACK = '000dpackfile\n000d\u0001PACKxxxx0000'
const sent = (body: string): Fault => ({
  kind: 'status',
  status: 200,
  headers: { 'content-type': 'application/x-git-upload-pack-result' },
  body,
})
for (const [name, fault, target, options] of [
  ['a server without filters', undefined, {}, { allowFilter: false }],
  [
    'a server that does not know the command',
    sent("002fERR expected 'want', got 'command=ls-refs'\n"),
    {},
    {},
  ],
  ['a server that says so', sent('0024ERR unexpected filter blob:none\n'), { command: 'fetch' }, {}],
  ['a page', { kind: 'page' }, {}, {}],
  ['an empty answer', sent(''), {}, {}],
  ['a list of SHA-256 names', sent(`004d${'1'.repeat(64)} HEAD\n0000`), {}, {}],
  ['a pack without an end', { kind: 'endless' }, { command: 'fetch' }, {}],
  ['a list of refs without an end', { kind: 'endless' }, { command: 'ls-refs' }, {}],
  ['a broken pack', sent(BROKEN_PACK), { command: 'fetch' }, {}],
  ['a pack elsewhere', { kind: 'elsewhere', uri: 'https://localhost/x.pack' }, { command: 'fetch' }, {}],
  ['a server that does not take the request', { kind: 'status', status: 405 }, {}, {}],
] as const)
  t.test(`${name} is not for this engine`, async (t) => {
    const ended = await readWith(fault, target, options)
    t.ok(ended instanceof Error && !(ended instanceof Failure), String(ended))
  })

t.test(
  'a server that is busy when it is asked for the HEAD of an empty repository decides nothing',
  async (t) => {
    const repository = await server.createRepository('direct/unborn', { empty: true, defaultBranch: 'trunk' })
    const read = () =>
      stage.remote('direct', repository.url, (remote) => outcomeOf(remote.readTip({ branch: undefined })))
    const target = { repository: repository.name, exchange: 'upload-pack-refs' } as const
    for (const [fault, expected] of [
      [{ kind: 'status', status: 503 }, { reason: 'ProviderUnavailable' }],
      [{ kind: 'status', status: 404 }, { branch: 'main' }],
      [{ kind: 'page' }, { branch: 'main' }],
    ] as const) {
      const heal = server.faults.add(fault, target)
      t.match(await read(), expected)
      heal()
    }
    t.match(await read(), { branch: 'trunk', exists: false })
  },
)

for (const [name, fault, expected] of [
  [
    'a busy server',
    { kind: 'status', status: 503, headers: { 'Retry-After': '7' } },
    { reason: 'ProviderUnavailable', retryAfterSeconds: 7 },
  ],
  [
    'a limit of requests',
    { kind: 'status', status: 403, headers: { 'Retry-After': '8' } },
    { reason: 'RateLimited', retryAfterSeconds: 8 },
  ],
  ['a wrong login', { kind: 'status', status: 401 }, { reason: 'AuthenticationFailed', message: /Secret/ }],
  ['a missing right', { kind: 'status', status: 403 }, { reason: 'PermissionDenied' }],
  [
    'a missing repository',
    { kind: 'status', status: 404 },
    { reason: 'RepositoryNotFound', message: /not visible/ },
  ],
  [
    'a redirect',
    { kind: 'redirect', location: 'https://localhost:1/' },
    { reason: 'RepositoryNotFound', message: /redirected/ },
  ],
  ['a cut', { kind: 'cut' }, { reason: 'NetworkError', message: /in the middle/ }],
  ['an end within a packet', sent('00ff'), { reason: 'NetworkError', message: /in the middle/ }],
  ['a connection that breaks', { kind: 'drop' }, { reason: 'NetworkError' }],
  [
    'an error of the server',
    sent('0019ERR this costs a fee\n'),
    { reason: 'ProviderUnavailable', message: /reports "this costs a fee"; Commitlet retries/ },
  ],
] as const)
  t.test(`${name} is a verdict, in one request`, async (t) => {
    const before = server.requests.length
    t.match(await readWith(fault, {}), expected)
    // Where a repository is not found, a redirect is looked for.
    t.equal(server.requests.length - before, name === 'a missing repository' ? 2 : 1)
  })

t.test('an outage that a server reports in the answer to a fetch is a verdict', async (t) => {
  const words = sent('0020ERR GitLab: 502 Bad Gateway\n')
  t.match(await readWith(words, { command: 'fetch' }), { reason: 'ProviderUnavailable' })
})

t.test('FETCH_LIMIT is for all fetches of a session together', async (t) => {
  const files = { a: randomBytes(700 * 1024), b: randomBytes(700 * 1024) }
  const { url } = await server.createRepository('direct/limited', { files })
  async function readBoth(fetchLimitMiB: number): Promise<readonly unknown[]> {
    const work = async (remote: Remote) => {
      const tip = await remote.readTip({ branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      const tree = await remote.readTree(tip, ['a', 'b'])
      const ended: unknown[] = []
      for (const path of ['a', 'b'])
        ended.push(
          await remote.readBlobs(tip, [tree.get(path)?.oid ?? ''], 1024 * 1024).then(
            ({ size }) => size,
            (error: unknown) => error,
          ),
        )
      return ended
    }
    return stage.remote('direct', url, work, { fetchLimitMiB })
  }
  t.same(await readBoth(2), [1, 1])
  t.match(await readBoth(1), [
    1,
    {
      reason: 'NotSupported',
      message: /one attempt fetches more than 1 MiB; your Commitlet operator may raise FETCH_LIMIT/,
    },
  ])
})

drawn('a redirect that comes at the first request of the usual order only is seen', async (t) => {
  const repository = await server.createRepository('direct/moved')
  for (const [fault, exchange] of [
    [{ kind: 'status', status: 404 }, 'upload-pack'],
    [{ kind: 'redirect', location: 'https://localhost:1/' }, 'upload-pack-refs'],
  ] as const)
    t.teardown(server.faults.add(fault, { repository: repository.name, exchange }))
  await t.rejects(
    stage.remote('direct', repository.url, (remote) => remote.readTip({ branch: 'main' })),
    { reason: 'RepositoryNotFound', message: /redirected to another address/ },
  )
})

drawn('a silent server is given up when the signal fires', async (t) => {
  const repository = await server.createRepository('direct/silent')
  t.teardown(server.faults.add({ kind: 'hang' }, { repository: repository.name }))
  const signal = AbortSignal.timeout(200)
  const read = stage.remote('direct', repository.url, (remote) => remote.readTip({ branch: 'main' }), {
    signal,
  })
  t.match(await outcomeOf(read), { reason: 'Timeout' })
})

drawn('a push is not sent after the signal has fired', async (t) => {
  const repository = await server.createRepository('direct/late')
  const stop = new AbortController()
  const { signal } = stop
  const work = stage.remote(
    'direct',
    repository.url,
    async (remote) => {
      const tip = await remote.readTip({ branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      const { files, message, author } = changeOf(repository.url, 'a.md')
      const news = files.map((file) => ({ ...file, mode: '100644' }))
      const [head = ''] = await remote.writeCommits(tip, [{ files: news, message, author, date: new Date() }])
      stop.abort()
      return remote.push(tip, head)
    },
    { signal },
  )
  t.match(await outcomeOf(work), { reason: 'Timeout' })
  t.notOk(
    server.requests.some(
      (request) => request.repository === repository.name && request.exchange === 'receive-pack',
    ),
  )
})

drawn(
  'a login that is not for the address is not for this engine, and a broken CA_FILE is reported',
  async (t) => {
    const settings = { ssh: openSSHSessions(), fetchLimitMiB: 1, deadlineSeconds: 1 }
    const target = { route: REACHED, login: loginOf(PASSWORD), signal: patience(), namespace: 'shop' }
    const address = parseRepositoryAddress('https://git.example.com/acme/shop.git')
    const key = {
      method: 'key',
      namespace: 'shop',
      identity: 'x',
      secrets: [],
      privateKey: '',
      hostKeys: '',
    } as const
    const engine = openDirectEngine({ ...settings, trust: followTrust(server.caFile) })
    const ended: unknown = await engine
      .open({ ...target, address, login: key })
      .catch((error: unknown) => error)
    t.ok(ended instanceof Error && !(ended instanceof Failure))
    const broken = openDirectEngine({ ...settings, trust: followTrust('/nonexistent/ca.pem') })
    await t.rejects(broken.open({ ...target, address }), { reason: 'Internal', message: /CA_FILE/ })
  },
)
