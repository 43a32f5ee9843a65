import { execFile } from 'node:child_process'
import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { HandOver } from '../../functions/git/engine-choice.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { makeAuthority } from '../harness/certificates.ts'
import type { Fault, Target } from '../harness/git-faults.ts'
import { sample } from '../harness/sample.ts'
import { processesWith } from '../harness/processes.ts'
import { changeOf, loginOf, openStage, outcomeOf, PASSWORD, pathOf, patience, until } from './stage.ts'
import { drawnTests } from '../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const reader = { password: 'reader-token', right: 'read' } as const
const stage = await openStage({ users: [{ password: PASSWORD }, reader] })
t.teardown(() => stage.close())
const { server } = stage
const git = stage.open()
const LOGIN = loginOf(PASSWORD)
const OPERATORS = { ...LOGIN, ofOperator: true as const }
/** The server knows no filters, so the direct engine hands the repository over. */
const FOR_BINARY = { allowFilter: false }

/** Everything about a failure that a user or a log could show. */
function wordsOf(failure: unknown): string {
  if (!(failure instanceof Failure)) return String(failure)
  return `${failure.message} ${String(failure.cause)} ${failure.stack ?? ''}`
}

const SECRETS = [
  PASSWORD,
  encodeURIComponent(PASSWORD),
  Buffer.from(PASSWORD).toString('base64'),
  Buffer.from(`x-access-token:${PASSWORD}`).toString('base64'),
]

t.test('a commit lands without a file or a process of Commitlet', async (t) => {
  const repository = await server.createRepository('git/plain')
  const landed = await git.push(changeOf(repository.url, 'a.md'), LOGIN, patience())
  t.same(landed, { outcome: 'pushed', sha: await repository.git('rev-parse', 'main'), branch: 'main' })
  t.same(await stage.leftovers(), [])
})

t.test(
  'a commit has the time by which it is searched for, whatever the clock of the machine says',
  async (t) => {
    const repository = await server.createRepository('git/dated')
    const writer = stage.open({ now: () => new Date('2038-01-19T03:14:07Z') })
    await writer.push(changeOf(repository.url, 'a.md'), LOGIN, patience())
    t.equal(await repository.git('log', '-1', '--format=%at %ct', 'main'), '2147483647 2147483647')
  },
)

t.test('a session that has to give way to others ends at once, and says so', async (t) => {
  const repository = await server.createRepository('git/gives-way')
  t.teardown(server.faults.add({ kind: 'hang' }, { repository: repository.name }))
  const because = new Failure('Timeout', 'Others wait.')
  const change = changeOf(repository.url, 'a.md')
  for (const work of ['push', 'find'] as const) {
    let isOver = false
    const asked = Promise.withResolvers<(because: Failure) => void>()
    const writer = stage.open({
      acquireSession: ({ giveWay }) => {
        if (giveWay !== undefined) asked.resolve(giveWay)
        return Promise.resolve(() => void (isOver = true))
      },
    })
    const seen = server.requests.length
    const ended = writer[work](change, LOGIN, patience()).catch((error: unknown) => error)
    const giveWay = await asked.promise
    await until('a request', () => Promise.resolve(server.requests.length > seen))
    giveWay(because)
    t.equal(await ended, because, work)
    await until('the end of the session', () => Promise.resolve(isOver))
  }
})

t.test(
  "names and handshakes are in the share of their namespace, with the operator's login in none or only counted",
  async (t) => {
    const shares: unknown[] = []
    const names: unknown[] = []
    const writer = stage.open({
      resolve: (_host, _port, _signal, namespace) => {
        names.push(namespace)
        return Promise.resolve(['127.0.0.1'])
      },
      handshakes: {
        workFor: (namespace, work) => {
          shares.push([namespace, 'its own'])
          return Promise.resolve().then(work)
        },
        withOperatorsLogin: (namespace, work) => {
          shares.push([namespace, "the operator's"])
          return Promise.resolve().then(work)
        },
        mustWait: () => false,
      },
    })
    for (const [login, whose, named] of [
      [LOGIN, 'its own', 'shop'],
      [{ ...LOGIN, ofOperator: true }, "the operator's", undefined],
    ] as const) {
      shares.length = 0
      names.length = 0
      const change = changeOf((await server.createRepository(`git/share-${whose.length}`)).url, 'a.md')
      t.match(await writer.push(change, login, patience()), { outcome: 'pushed' })
      t.ok(shares.length > 0)
      for (const one of shares) t.strictSame(one, ['shop', whose])
      t.strictSame(new Set(names), new Set([named]))
    }
  },
)

drawn(
  'what the direct engine cannot write lands by the git binary, and no temporary file is left',
  async (t) => {
    const repository = await server.createRepository('git/careful', FOR_BINARY)
    const told: HandOver[] = []
    const writer = stage.open({ handedOver: (one) => void told.push(one) })
    for (const path of ['a.md', 'b.md'])
      t.match(await writer.push(changeOf(repository.url, path), LOGIN, patience()), { outcome: 'pushed' })
    t.equal(await repository.git('rev-list', '--count', 'main'), '3')
    t.match(told, [{ url: repository.url, why: /fetch/ }])
    t.equal(told.length, 1)
    await until('an empty folder', async () => {
      const [home = ''] = await stage.leftovers()
      return (await readdir(join(stage.tempDir, home))).join() === 'authorities-1.pem'
    })
  },
)

drawn(
  'a repository with SHA-256 names, also an empty one, is not supported by the git binary either',
  async (t) => {
    const repository = await server.createRepository('git/sha256', { empty: true })
    await rm(repository.path, { recursive: true, force: true, maxRetries: 5 })
    await promisify(execFile)('git', ['init', '-q', '--bare', '--object-format=sha256', repository.path])
    const told: HandOver[] = []
    const writer = stage.open({ handedOver: (one) => void told.push(one) })
    const push = () => outcomeOf(writer.push(changeOf(repository.url, 'a.md'), LOGIN, patience()))
    t.match(await push(), { reason: 'NotSupported', message: /SHA-256/ })
    const tree = await repository.git('hash-object', '-w', '-t', 'tree', '/dev/null')
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
    const commit = await repository.git(...identity, 'commit-tree', '-m', 'Begin', tree)
    await repository.git('update-ref', 'refs/heads/main', commit)
    t.match(await push(), { reason: 'NotSupported', message: /SHA-256/ })
    t.match(told, [{ url: repository.url, why: /list of refs/ }])
  },
)

/** Looks at pushes with a slow file until there is a file `go` in the repository, for 20 s at most. */
const SLOW_HOOK = `while read old new ref; do git log --format= --name-only "$new" --not --all; done | grep -q slow.md || exit 0
for i in $(seq 200); do if [ -e go ]; then exit 0; fi; sleep 0.1; done`

for (const engine of ['direct', 'binary'] as const)
  t.test(
    `${engine}: a push that the host looks at for long keeps nobody of the same login for longer than two seconds`,
    async (t) => {
      const repository = await server.createRepository(`git/slow-${engine}`, {
        hooks: { 'pre-receive': SLOW_HOOK },
      })
      const writer = stage.open({ engine })
      const push = (namespace: string, path: string) =>
        outcomeOf(writer.push(changeOf(repository.url, path, { namespace }), OPERATORS, patience()))
      const slow = [push('evil', 'slow.md'), push('shop', 'in-it.md')]
      const [inIt, ...later] = await Promise.all([slow[1], push('shop', 'a.md'), push('market', 'b.md')])
      t.match([inIt, ...later], Array(3).fill({ outcome: 'pushed' }))
      t.same(await repository.git('ls-tree', '--name-only', 'main', 'slow.md'), '', 'it waits still')
      await writeFile(join(repository.path, 'go'), '')
      t.match(await slow[0], { outcome: 'pushed' })
      t.equal(await repository.git('rev-list', '--count', 'main'), '5', 'each once')
    },
  )

const GATEWAYS: readonly (readonly ['direct' | 'binary', string, Fault])[] = (
  ['direct', 'binary'] as const
).flatMap((engine) => [
  [engine, '403', { kind: 'status', status: 403 }] as const,
  [engine, 'a page', { kind: 'page' }] as const,
])
/** As web application firewalls do at a body that is too large. */
for (const [engine, answer, fault] of sample(GATEWAYS, ([engine]) => engine))
  t.test(
    `${engine}: a gateway that answers a push of several namespaces with ${answer} refuses none that it takes alone`,
    async (t) => {
      const repository = await server.createRepository(`git/gateway-${engine}-${answer.replace(' ', '-')}`)
      const writer = stage.open({ engine })
      const push = (namespace: string, path: string) =>
        outcomeOf(writer.push(changeOf(repository.url, path, { namespace }), LOGIN, patience()))
      t.teardown(
        server.faults.add(fault, {
          repository: repository.name,
          exchange: 'receive-pack',
          times: 1,
        }),
      )
      const first = push('shop', 'first.md')
      const others = [push('shop', 'a.md'), push('market', 'b.md'), push('kitchen', 'c.md')]
      t.match(await Promise.all([first, ...others]), Array(4).fill({ outcome: 'pushed' }))
      t.equal(await repository.git('rev-list', '--count', 'main'), '5', 'each once')
    },
  )

const STRUCK = 'git/struck'
interface Expected {
  readonly reason: string
  readonly message?: RegExp
  readonly retryAfterSeconds?: number | undefined
}

const broken: readonly (readonly [string, Fault, Target, Expected])[] = [
  [
    'a server that asks to wait',
    { kind: 'status', status: 429, headers: { 'Retry-After': '77' } },
    {},
    { reason: 'RateLimited', retryAfterSeconds: 77 },
  ],
  [
    'a server that is down',
    { kind: 'status', status: 503 },
    {},
    { reason: 'ProviderUnavailable', retryAfterSeconds: undefined },
  ],
  ['a server that is slow', { kind: 'status', status: 408 }, {}, { reason: 'ProviderUnavailable' }],
  [
    'a server that fails at the second request',
    { kind: 'status', status: 500 },
    { command: 'fetch' },
    { reason: 'ProviderUnavailable' },
  ],
  [
    'a redirect',
    { kind: 'redirect', location: 'https://git.example.com/' },
    {},
    { reason: 'RepositoryNotFound', message: /redirected to another address/ },
  ],
  ['a page', { kind: 'page' }, {}, { reason: 'RepositoryNotFound' }],
  ['an unknown status', { kind: 'status', status: 422 }, {}, { reason: 'PushRejected' }],
  ['an answer cut in the middle', { kind: 'cut' }, { command: 'fetch' }, { reason: 'NetworkError' }],
  ['a connection that breaks', { kind: 'drop' }, {}, { reason: 'NetworkError' }],
  ['an echo of the login', { kind: 'echo', status: 400 }, {}, { reason: 'PushRejected' }],
  [
    'an echo of the login at the push',
    { kind: 'echo', status: 422 },
    { exchange: 'receive-pack' },
    { reason: 'PushRejected' },
  ],
]
const struck = await server.createRepository(STRUCK)
for (const [name, fault, target, expected] of sample(broken, ([, , , { reason }]) => reason)) {
  drawn(`${name} is reported with its reason, without a secret`, async (t) => {
    const heal = server.faults.add(fault, { repository: STRUCK, ...target })
    const failure = await outcomeOf(git.push(changeOf(struck.url, 'a.md'), LOGIN, patience()))
    heal()
    t.match(failure, expected)
    for (const secret of SECRETS) t.notOk(wordsOf(failure).includes(secret))
  })
}

drawn('a redirect to another repository names it', async (t) => {
  const location = 'https://git.example.com/market/new.git/info/refs?service=git-upload-pack'
  const heal = server.faults.add({ kind: 'redirect', location, status: 301 }, { repository: STRUCK })
  const failure = await outcomeOf(git.push(changeOf(struck.url, 'a.md'), LOGIN, patience()))
  heal()
  t.match(failure, {
    reason: 'RepositoryNotFound',
    message: /redirected to https:\/\/git\.example\.com\/market\/new\.git, to which/,
  })
})

drawn('a push that the host has moved elsewhere ends as RepositoryNotFound, for good', async (t) => {
  const words =
    'This repository moved. Please use the new location:\n  https://git.example.com/market/new.git'
  const hooks = { 'post-receive': `printf '%s\\n' '${words}' >&2` }
  const repository = await server.createRepository('git/moved', { hooks })
  const changes = ['a.md', 'b.md'].map((path) => changeOf(repository.url, path))
  for (const failure of await Promise.all(
    changes.map((change) => outcomeOf(git.push(change, LOGIN, patience()))),
  )) {
    t.match(failure, {
      reason: 'RepositoryNotFound',
      retry: 'never',
      fallback: false,
      message: /has moved to https:\/\/git\.example\.com\/market\/new\.git, and its host may have written/,
    })
  }
})

drawn('a hook that prints the login does not reveal the secret', async (t) => {
  const hooks = {
    'pre-receive': `printf 'no \\033[31m%s and %s\\n' '${PASSWORD}' '${SECRETS[3] ?? ''}' >&2; exit 1`,
  }
  const repository = await server.createRepository('git/gossip', { hooks })
  const failure = await outcomeOf(git.push(changeOf(repository.url, 'a.md'), LOGIN, patience()))
  t.match(failure, { reason: 'PushRejected', message: /reports "no \*\*\* and \*\*\*"/ })
})

const logins = [
  ['a wrong token', 'wrong', 'git/plain', 'AuthenticationFailed'],
  ['a token that may only read', reader.password, 'git/plain', 'PermissionDenied'],
  ['an unknown repository', PASSWORD, 'git/none', 'RepositoryNotFound'],
] as const
for (const [name, password, repository, reason] of logins) {
  drawn(`${name} is ${reason}`, async (t) => {
    const change = changeOf(`${server.url}/${repository}.git`, `${reason}.md`)
    t.match(await outcomeOf(git.push(change, loginOf(password), patience())), { reason })
  })
}

drawn('an unknown authority, a wrong name and an expired certificate are not trusted', async (t) => {
  const others = [
    { certificate: {}, caFile: undefined, says: /no trusted authority has signed; .* CA_FILE/ },
    { certificate: { names: ['git.example.com'] }, caFile: 'own', says: /made for another name/ },
    { certificate: { expired: true }, caFile: 'own', says: /that has expired/ },
    { certificate: { early: true }, caFile: 'own', says: /that is not valid yet/ },
  ] as const
  for (const { certificate, caFile, says } of others) {
    const other = await openStage({ certificate })
    const writer = other.open(caFile === undefined ? { trust: followTrust(caFile) } : {})
    const failure = await outcomeOf(
      writer.push(changeOf(`${other.server.url}/a/b.git`, 'a.md'), LOGIN, patience()),
    )
    t.match(failure, { reason: 'TLSUntrusted', retry: 'slow', message: says })
    t.equal(other.server.requests.length, 0)
    await other.close()
  }
})

drawn('a host that is not known, and one that takes no connection', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  for (const [url, says] of [
    ['https://git.invalid/a/b.git', /not known to DNS/],
    [`https://localhost:${port}/a/b.git`, /nothing accepts the connection/],
  ] as const) {
    const failure = await outcomeOf(git.push(changeOf(url, 'a.md'), LOGIN, patience()))
    t.match(failure, { reason: 'NetworkError', message: says })
  }
})

drawn('a server that sends Git to another address for a pack is not followed', async (t) => {
  let called = 0
  const other = createServer((socket) => {
    called++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const { url } = await server.createRepository('git/elsewhere')
  for (const uri of [
    `http://127.0.0.1:${port}/x.pack`,
    `https://localhost:${port}/x.pack`,
    `${server.url}/x.pack`,
  ]) {
    const before = server.requests.length
    const heal = server.faults.add({ kind: 'elsewhere', uri }, { exchange: 'upload-pack', command: 'fetch' })
    t.match(
      await outcomeOf(git.push(changeOf(url, 'a.md'), LOGIN, patience())),
      { reason: /NetworkError|Internal/ },
      uri,
    )
    heal()
    t.notOk(server.requests.slice(before).some(({ path }) => path === '/x.pack'))
  }
  t.equal(called, 0)
})

for (const exchange of ['upload-pack-refs', 'receive-pack'] as const) {
  drawn(
    `a server that is silent at ${exchange} is given up at the deadline, and no process is left`,
    async (t) => {
      const name = `git/silent-${exchange}`
      const repository = await server.createRepository(name, FOR_BINARY)
      t.teardown(server.faults.add({ kind: 'hang' }, { repository: name, exchange }))
      const abort = new AbortController()
      const work = outcomeOf(git.push(changeOf(repository.url, 'a.md'), LOGIN, abort.signal))
      const seen = await until('the silent request', async () => {
        const asked = server.requests.some(
          (request) => request.repository === name && request.exchange === exchange,
        )
        return asked && processesWith(stage.tempDir)
      })
      t.ok(seen.length > 0)
      const lines = await Promise.all(
        (await readdir('/proc'))
          .filter((pid) => /^\d+$/.test(pid))
          .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
      )
      for (const secret of SECRETS)
        t.notOk(
          lines.some((line) => line.includes(secret)),
          'no command line holds a secret',
        )
      abort.abort()
      t.match(await work, { reason: 'Timeout' })
      await until('the end of all', async () => (await processesWith(stage.tempDir)).length === 0)
      await until(
        'the end of the workspace',
        async () => (await readdir(join(stage.tempDir, (await stage.leftovers())[0] ?? ''))).length === 1,
      )
    },
  )
}

for (const [what, options, says] of [
  ['request', {}, /did not answer in time/],
  ['process', FOR_BINARY, /2 seconds/],
] as const)
  t.test(`the deadline of a ${what} holds without any signal`, async (t) => {
    const name = `git/deadline-${what}`
    const repository = await server.createRepository(name, options)
    const exchange = what === 'request' ? 'upload-pack' : 'upload-pack-refs'
    t.teardown(server.faults.add({ kind: 'hang' }, { repository: name, exchange }))
    const writer = stage.open({ deadlineSeconds: 2 })
    const { signal } = new AbortController()
    const failure = await outcomeOf(writer.push(changeOf(repository.url, 'a.md'), LOGIN, signal))
    t.match(failure, { reason: 'Timeout', message: says })
  })

drawn('changes that come at once go with one push, one commit each', async (t) => {
  const repository = await server.createRepository('git/group')
  const before = server.requests.length
  const work = Array.from({ length: 20 }, (_, i) =>
    git.push(changeOf(repository.url, `${i}.md`), LOGIN, patience(60_000)),
  )
  const landed = await Promise.all(work)
  t.equal(new Set(landed.map(({ sha }) => sha)).size, 20)
  t.equal(server.requests.slice(before).filter(({ exchange }) => exchange === 'receive-pack').length, 1)
  t.equal((await repository.log('main')).length, 21)
})

drawn('eight writers of two processes on one branch lose nothing and repeat nothing', async (t) => {
  const repository = await server.createRepository('git/crowd')
  const writers = [stage.open(), stage.open()]
  const changes = Array.from({ length: 8 }, (_, w) =>
    Array.from({ length: 3 }, (_, i) => changeOf(repository.url, `w${w}/${i}.md`)),
  )
  await Promise.all(
    changes.map(async (own, w) => {
      for (const change of own)
        t.match(await writers[w % 2]?.push(change, LOGIN, patience(120_000)), { outcome: 'pushed' })
    }),
  )
  const subjects = (await repository.log('main')).slice(0, -1).sort()
  t.same(
    subjects,
    changes
      .flat()
      .map((change) => `Write ${pathOf(change)}`)
      .sort(),
  )
  t.equal(await repository.git('fsck', '--strict', '--no-dangling'), '')
})

drawn('what an earlier attempt has pushed is found without the content', async (t) => {
  const repository = await server.createRepository('git/find')
  const change = changeOf(repository.url, 'a.md', { branch: undefined })
  const sought = { ...change, files: [{ path: 'a.md' }], since: new Date(Date.now() - 3_600_000) }
  t.equal(await git.find(sought, LOGIN, patience()), undefined)
  const { sha } = await git.push(change, LOGIN, patience())
  await repository.commit('main', { 'a.md': 'by another' })
  const before = server.requests.length
  const chosen: string[] = []
  const engineChosen = (engine: string): void => void chosen.push(engine)
  t.same(await git.find(sought, LOGIN, patience(), { engineChosen }), {
    outcome: 'found',
    sha,
    branch: 'main',
  })
  t.strictSame(chosen, ['direct'], 'an attempt that only searches has an engine too')
  t.equal(await git.find({ ...sought, files: [{ path: 'b.md' }] }, LOGIN, patience()), undefined)
  const merged = await git.find({ ...sought, branch: 'none' }, LOGIN, patience())
  t.same(merged, { outcome: 'found', sha, branch: 'none' }, 'a branch that may have been merged and deleted')
  t.notOk(server.requests.slice(before).some(({ exchange }) => exchange?.startsWith('receive-pack')))
  const wrong = await outcomeOf(git.find(sought, loginOf('wrong'), patience()))
  t.match(wrong, { reason: 'AuthenticationFailed' })
})

drawn('a search ends at its deadline and at the end of the writer', async (t) => {
  const repository = await server.createRepository('git/find-silent')
  const change = changeOf(repository.url, 'a.md', { since: new Date() })
  t.match(await outcomeOf(git.find(change, LOGIN, AbortSignal.abort())), { reason: 'Timeout' })
  t.teardown(server.faults.add({ kind: 'hang' }, { repository: repository.name }))
  const writer = stage.open()
  const abort = new AbortController()
  const [late, stopped] = [abort.signal, patience()].map((signal) =>
    outcomeOf(writer.find(change, LOGIN, signal)),
  )
  const asked = () => server.requests.filter((request) => request.repository === repository.name).length
  await until('both requests', () => Promise.resolve(asked() === 2))
  abort.abort()
  t.match(await late, { reason: 'Timeout' })
  await writer.close()
  t.match(await stopped, { reason: 'Timeout', message: /was stopped/ })
  t.match(await outcomeOf(writer.find(change, LOGIN, patience())), { message: /was stopped/ })
})

drawn('a CA_FILE that is not there fails the attempt; it is read again when it changes', async (t) => {
  const caFile = join(stage.tempDir, 'late.pem')
  const told: Failure[] = []
  const writer = stage.open({ trust: followTrust(caFile, (failure) => void told.push(failure)) })
  const push = () => outcomeOf(writer.push(changeOf(struck.url, 'b.md'), LOGIN, patience()))
  t.match(await push(), { reason: 'Internal', message: /CA_FILE/ })
  await copyFile(server.caFile, caFile)
  t.match(await push(), { outcome: 'pushed' })
  await writeFile(caFile, (await makeAuthority()).certPEM)
  t.match(await push(), { reason: 'TLSUntrusted' })
  await copyFile(server.caFile, caFile)
  t.match(await push(), { outcome: 'unchanged' })
  await rm(caFile)
  t.match(await push(), { outcome: 'unchanged' })
  t.match(told, [{ message: /CA_FILE/ }])
})

drawn('closing fails what is in flight, ends every process and leaves no file', async (t) => {
  const other = await openStage()
  const repository = await other.server.createRepository('a/b', FOR_BINARY)
  const writer = other.open()
  await writer.push(changeOf(repository.url, 'a.md'), LOGIN, patience())
  other.server.faults.add({ kind: 'hang' })
  const before = other.server.requests.length
  const work = outcomeOf(writer.push(changeOf(repository.url, 'b.md'), LOGIN, patience()))
  await until('the request', () => Promise.resolve(other.server.requests.length > before))
  await writer.close()
  t.match(await work, { reason: 'Timeout', message: /was stopped/ })
  t.same(await processesWith(other.tempDir), [])
  t.same(await other.leftovers(), [])
  t.match(await outcomeOf(writer.push(changeOf(repository.url, 'c.md'), LOGIN, patience())), {
    reason: 'Timeout',
  })
  await other.close()
})
