import { execFile } from 'node:child_process'
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { gitEnvironment } from './git-backend.ts'
import type { Fault, Target } from './git-faults.ts'
import { startGitServer, type GitServer } from './git-server.ts'
import { sample } from './sample.ts'
import { waitFor } from './wait.ts'
import { drawnTests } from './drawn-test.ts'

const drawn = drawnTests(t, 3)

const user = { username: 'dev', password: 'p:ass' }
const robot = { password: 'token-1' }
const scratch = await mkdtemp(join(tmpdir(), 'commitlet-client-'))
const server = await startGitServer({ users: [user, robot] })
t.teardown(async () => {
  await server.close()
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 })
})

interface Ran {
  readonly code: number
  readonly output: string
}

/** Runs git as a client that sends the login with each request; returns both streams together. */
function git(args: readonly string[], login = 'dev:p:ass', timeout = 20_000): Promise<Ran> {
  const header = login === '' ? '' : `Authorization: Basic ${Buffer.from(login).toString('base64')}`
  const config = {
    'http.extraHeader': header,
    'http.sslCAInfo': server.caFile,
    'http.followRedirects': 'false',
  }
  const env: Record<string, string> = {
    ...gitEnvironment(),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
  }
  Object.entries(config).forEach(([key, value], i) => {
    env[`GIT_CONFIG_KEY_${i}`] = key
    env[`GIT_CONFIG_VALUE_${i}`] = value
  })
  env['GIT_CONFIG_COUNT'] = '3'
  return new Promise((resolve) => {
    execFile('git', args, { cwd: scratch, env, timeout }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr })
    })
  })
}

async function strike(fault: Fault, target: Target, args: readonly string[]): Promise<Ran> {
  const end = server.faults.add(fault, target)
  const ran = await git(args)
  end()
  return ran
}

/** A clone with one new commit on it, and the push of that commit. */
async function readyToPush(url: string, name: string): Promise<string[]> {
  await git(['clone', '-q', url, name])
  await git(['-C', name, 'commit', '-q', '--allow-empty', '-m', 'Mine'])
  return ['-C', name, 'push', '-q', 'origin', 'HEAD:refs/heads/main']
}

t.test('a clone and a push go through, and the repository shows them', async (t) => {
  const repository = await server.createRepository('acme/shop', {
    branches: ['next'],
    files: {
      'a "b"/ü.md': 'text\n',
      'run.sh': { mode: '100755', content: '#!/bin/sh\n' },
      link: { mode: '120000', content: 'run.sh' },
      sub: { mode: '160000', content: '1'.repeat(40) },
    },
  })
  t.equal(repository.url, `${server.url}/acme/shop.git`)
  t.match(await repository.git('ls-tree', 'main'), /120000.*link[^]*100755.*run.sh[^]*160000.*sub/)
  t.equal(await repository.show('next:a "b"/ü.md'), 'text\n')
  const push = await readyToPush(repository.url, 'shop')
  t.same(await git(push), { code: 0, output: '' })
  t.same(await repository.log(), ['Mine', 'Begin'])
  await repository.commit('next', { 'other.md': 'x' })
  t.same(await repository.log('next'), ['Another writer was here', 'Begin'])
  t.rejects(repository.commit('next', { '': 'x' }), /fast-import could not commit/)
})

drawn('a clone without blobs works unless the repository forbids the filter', async (t) => {
  const open = await server.createRepository('open')
  t.equal((await git(['clone', '-q', '--bare', '--filter=blob:none', open.url])).output, '')
  const closed = await server.createRepository('closed', { allowFilter: false })
  t.match(
    (await git(['clone', '-q', '--bare', '--filter=blob:none', closed.url])).output,
    /filtering not recognized/,
  )
})

drawn('an empty repository has no commit, and a hook can refuse a push', async (t) => {
  const empty = await server.createRepository('empty', { empty: true, defaultBranch: 'trunk' })
  t.match(await git(['ls-remote', empty.url]), { code: 0, output: '' })
  t.equal(await empty.git('symbolic-ref', 'HEAD'), 'refs/heads/trunk')
  const hooks = { 'pre-receive': 'echo "protected branch" >&2; exit 1' }
  const guarded = await server.createRepository('guarded', { hooks })
  t.match(
    (await git(await readyToPush(guarded.url, 'guarded'))).output,
    /protected branch[^]*pre-receive hook declined/,
  )
})

drawn('rights are distinguished', async (t) => {
  const { url } = await server.createRepository('rights')
  const push = await readyToPush(url, 'rights')
  t.match((await git(['ls-remote', url], undefined)).code, 0, 'the default login may')
  t.match((await git(['ls-remote', url], '')).output, /could not read Username/)
  t.match((await git(['ls-remote', url], 'dev:wrong')).output, /could not read Username/)
  t.equal((await git(['ls-remote', url], 'x-access-token:token-1')).code, 0)
  server.setRight(user, 'rights', 'read')
  t.match((await git(push)).output, /returned error: 403/)
  t.equal((await git(['ls-remote', url])).code, 0)
  t.equal((await git(push, 'x:token-1')).code, 0, 'others keep their right')
  server.setRight(user, 'rights', 'none')
  t.match((await git(['ls-remote', url])).output, /not found/)
  t.match((await git(['ls-remote', `${server.url}/acme/none.git`])).output, /not found/)
})

drawn('git reports each fault in its known way', async (t) => {
  const { url } = await server.createRepository('faulty', { files: { big: 'x\n'.repeat(50_000) } })
  const fetch = ['ls-remote', url]
  const clone = ['clone', '-q', '--bare', url, 'never']
  const status = { kind: 'status', status: 503, headers: { 'retry-after': '7' } } as const
  const rows: [string, Fault, Target, string[], RegExp][] = [
    ['503', status, { exchange: 'upload-pack-refs' }, fetch, /returned error: 503/],
    ['503 at the POST', status, { exchange: 'upload-pack' }, fetch, /HTTP 503/],
    ['a redirect', { kind: 'redirect', location: `${url}/x` }, {}, fetch, /returned error: 302/],
    ['a page', { kind: 'page' }, {}, clone, /no DAV|not found|empty repository|valid/],
    ['an echo', { kind: 'echo', status: 401 }, {}, fetch, /could not read|You sent/],
    ['a drop', { kind: 'drop' }, {}, fetch, /unable to access/],
    [
      'an answer cut in the middle',
      { kind: 'cut' },
      { command: 'fetch' },
      clone,
      /early EOF|RPC failed|bad pack/,
    ],
    [
      'an answer cut after 10 bytes',
      { kind: 'cut', bytes: 10 },
      { command: 'ls-refs' },
      fetch,
      /RPC failed|fatal/,
    ],
    ['a lost answer', { kind: 'lost' }, { exchange: 'upload-pack' }, fetch, /RPC failed/],
  ]
  for (const [what, fault, target, args, expected] of sample(rows, ([what]) =>
    what.split(' ').slice(0, 2).join(),
  )) {
    t.match((await strike(fault, { repository: 'faulty', ...target }, args)).output, expected, what)
  }
  t.equal((await git(fetch)).code, 0, 'all of them are gone')
})

drawn('the client ends faults that never end', async (t) => {
  const { url } = await server.createRepository('endless')
  const rows: [string, Fault, Target, string[]][] = [
    ['silence', { kind: 'hang' }, {}, ['ls-remote', url]],
    ['refs for ever', { kind: 'endless' }, { command: 'ls-refs' }, ['ls-remote', url]],
    ['an advertisement for ever', { kind: 'endless' }, { exchange: 'upload-pack-refs' }, ['ls-remote', url]],
    ['a pack for ever', { kind: 'endless' }, { command: 'fetch' }, ['clone', '-q', '--bare', url, 'huge']],
  ]
  for (const [what, fault, target, args] of sample(rows, ([, { kind }]) => kind)) {
    const end = server.faults.add(fault, target)
    t.match(await git(args, 'dev:p:ass', 700), { code: -1, output: '' }, what)
    end()
  }
})

drawn('a lost answer to a push leaves the commit on the server', async (t) => {
  const repository = await server.createRepository('lost')
  const push = await readyToPush(repository.url, 'lost')
  t.match(await strike({ kind: 'lost' }, { exchange: 'receive-pack' }, push), { code: 1 })
  t.same(await repository.log(), ['Mine', 'Begin'])
})

drawn('a request is held before or after it is applied', async (t) => {
  const repository = await server.createRepository('held')
  const push = await readyToPush(repository.url, 'held')
  server.requests.length = 0
  for (const [when, seen] of [
    ['before', 'Begin'],
    ['after', 'Mine'],
  ] as const) {
    const gate = Promise.withResolvers<undefined>()
    server.faults.add({ kind: 'hold', when, until: gate.promise }, { exchange: 'receive-pack', times: 1 })
    const pushed = git(push)
    await until(async () => (await repository.log())[0] === seen && posts(server) > 0)
    t.equal(server.requests.at(-1)?.status, undefined, `${when}: no answer yet`)
    gate.resolve(undefined)
    t.equal((await pushed).code, 0)
    await repository.git('update-ref', 'refs/heads/main', 'main^')
    server.requests.length = 0
  }
})

drawn('a fault can be limited by number and delayed', async (t) => {
  const { url } = await server.createRepository('limited')
  server.faults.add({ kind: 'status', status: 500 }, { repository: 'limited', skip: 2, times: 1 })
  t.same(
    [await git(['ls-remote', url]), await git(['ls-remote', url])].map(({ code }) => code),
    [0, 128],
  )
  t.equal((await git(['ls-remote', url])).code, 0)
  server.faults.add({ kind: 'hang' })
  server.faults.clear()
  t.equal((await git(['ls-remote', url])).code, 0)
})

drawn('the log counts requests and bytes, and only localhost is served', async (t) => {
  const { url } = await server.createRepository('logged')
  server.requests.length = 0
  await git(['ls-remote', url])
  await until(() => Promise.resolve(server.requests[1]?.received !== 0))
  t.match(server.requests, [
    { method: 'GET', path: '/logged.git/info/refs?service=git-upload-pack', status: 200, authorized: true },
    { method: 'POST', exchange: 'upload-pack', command: 'ls-refs', repository: 'logged', status: 200 },
  ])
  t.ok(server.requests.every(({ received, sent }) => received > 100 && sent > 100))
  const elsewhere = connect(server.port, '127.0.0.2')
  t.equal(
    await new Promise((resolve) => elsewhere.once('error', (e: NodeJS.ErrnoException) => resolve(e.code))),
    'ECONNREFUSED',
  )
  t.match((await git(['ls-remote', `${server.url}/favicon.ico`])).output, /not found/)
})

drawn('a server over plain http keeps its folder', async (t) => {
  const plain = await startGitServer({ users: [robot], plain: true, root: join(scratch, 'kept') })
  const { url, path } = await plain.createRepository('shop')
  t.match(url, /^http:\/\/localhost:\d+\/shop\.git$/)
  t.equal((await git(['ls-remote', url], 'x:token-1')).code, 0)
  await plain.close()
  t.match(await readFile(join(path, 'HEAD'), 'utf8'), 'refs/heads/main')
})

function posts(from: GitServer): number {
  return from.requests.filter(({ exchange }) => exchange === 'receive-pack').length
}

function until(condition: () => Promise<boolean>): Promise<true> {
  return waitFor('such a state', async () => ((await condition()) ? true : undefined), 30_000)
}
