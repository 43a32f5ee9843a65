import t from 'tap'
import { collect } from '../../harness/collect.ts'
import type { Change } from '../../../functions/domain/commit/change.ts'
import type { PasswordLogin } from '../../../functions/domain/credentials/login.ts'
import { rememberTips } from '../../../functions/git/direct/remembered-tips.ts'
import { readListedRefs } from '../../../functions/git/protocol/ls-refs.ts'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'
import { changeOf, loginOf, openStage, outcomeOf, PASSWORD, patience } from '../stage.ts'
import { startGitServer } from '../../harness/git-server.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const OTHER = 'other-token'
const reader = { password: 'reader-token', right: 'read' } as const
const stage = await openStage({ users: [{ password: PASSWORD }, { password: OTHER }, reader] })
t.teardown(() => stage.close())
const { server } = stage
const git = stage.open()
const LOGIN = loginOf(PASSWORD)

const READ = ['ls-refs', 'fetch']
const PUSH = ['receive-pack']

/** Pushes the change: how it ended, and the requests that it took. */
async function push(change: Change, login: PasswordLogin = LOGIN) {
  const before = server.requests.length
  const ended = await outcomeOf(git.push(change, login, patience()))
  const requests = server.requests.slice(before).map(({ command, exchange }) => command ?? exchange)
  return { ended, requests }
}

t.test(
  'a second commit is one request; another login reads all, the default branch asks first',
  async (t) => {
    const repository = await server.createRepository('tips/plain')
    const { url } = repository
    const first = await push(changeOf(url, 'a/a.md'))
    t.match(first, { ended: { outcome: 'pushed' }, requests: [...READ, ...PUSH] })
    t.match(await push(changeOf(url, 'a/b.md')), { ended: { outcome: 'pushed' }, requests: PUSH })
    const unnamed = await push(changeOf(url, 'a/d.md', { branch: undefined }))
    t.match(unnamed, { ended: { outcome: 'pushed' }, requests: ['ls-refs', ...PUSH] })
    t.match(await push(changeOf(url, 'a/e.md')), { ended: { outcome: 'pushed' }, requests: PUSH })
    const other = await push(changeOf(url, 'a/c.md'), loginOf(OTHER))
    t.match(other, { ended: { outcome: 'pushed' }, requests: [...READ, ...PUSH] })
    t.equal((await repository.log('main')).length, 6)
  },
)

t.test(
  'a push on a remembered tip has sent nothing where the server is gone, or does not look at it',
  async (t) => {
    const own = await startGitServer({ users: [{ password: PASSWORD }], authority: server.authority })
    const { url } = await own.createRepository('tips/gone')
    const told: string[] = []
    const pushWatch = {
      sent: () => void told.push('sent'),
      answered: (landed: boolean) => void told.push(landed ? 'landed' : 'not landed'),
      unread: () => void told.push('unread'),
    }
    async function watched(path: string): Promise<unknown> {
      told.length = 0
      return outcomeOf(git.push(changeOf(url, path), LOGIN, patience(), { pushWatch }))
    }
    t.match(await watched('a.md'), { outcome: 'pushed' })
    t.same(told, ['sent', 'landed'])
    for (const [status, reason, of] of [
      [401, 'AuthenticationFailed', 'unread'],
      [429, 'RateLimited', 'unread'],
      [403, 'PermissionDenied', 'not landed'],
    ] as const) {
      own.faults.add({ kind: 'status', status }, { exchange: 'receive-pack', times: 1 })
      t.match(await watched('b.md'), { reason })
      t.same(told, ['sent', of], reason)
    }
    await own.close()
    t.match(await watched('b.md'), { reason: 'NetworkError' })
    t.same(told, [])
  },
)

drawn('a login reads the tip again where another login has pushed since', async (t) => {
  const { url } = await server.createRepository('tips/shared')
  await push(changeOf(url, 'a/a.md'))
  await push(changeOf(url, 'a/b.md'), loginOf(OTHER))
  const { requests } = await push(changeOf(url, 'a/c.md'))
  t.same(requests, [...READ, ...PUSH], 'no push on a tip that is known to be old')
  const next = await push(changeOf(url, 'a/d.md'))
  t.same(next.requests, ['ls-refs', ...PUSH], 'and others may push again: it asks where the branch is')
})

drawn('a branch that another writer has moved is read, and only what is new is fetched', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 400 }, (_, i) => [`dir-${i}/${'x'.repeat(60)}.md`, String(i)]),
  )
  const repository = await server.createRepository('tips/moved', { files })
  const { url } = repository
  await push(changeOf(url, 'dir-1/a.md'))
  await repository.commit('main', { 'dir-2/b.md': 'b' })
  const before = server.requests.length
  const moved = await push(changeOf(url, 'dir-3/c.md'))
  t.match(moved, { ended: { outcome: 'pushed' }, requests: [...PUSH, ...READ, ...PUSH] })
  const fetched = server.requests.slice(before).find(({ command }) => command === 'fetch')
  const whole = server.requests.find((one) => one.repository === repository.name && one.command === 'fetch')
  t.ok((fetched?.sent ?? 0) * 2 < (whole?.sent ?? 0), `${fetched?.sent} of ${whole?.sent} bytes`)
  t.match(await repository.log('main'), ['Write dir-3/c.md', 'Another writer was here', 'Write dir-1/a.md'])
  t.equal(await repository.git('fsck', '--strict', '--no-dangling'), '')
})

drawn('content that is there is seen on the branch, never in the memory', async (t) => {
  const repository = await server.createRepository('tips/content')
  const change = changeOf(repository.url, 'a.md')
  await push(change)
  t.match(await push(change), { ended: { outcome: 'unchanged' }, requests: ['ls-refs'] })
  await repository.commit('main', { 'a.md': 'by another' })
  t.match(await push(change), { ended: { outcome: 'pushed' }, requests: [...READ, ...PUSH] })
  await repository.commit('main', { 'a.md': 'by another' })
  const sought = { ...change, files: [{ path: 'a.md' }], since: new Date(Date.now() - 3_600_000) }
  t.match(await git.find(sought, LOGIN, patience()), { outcome: 'found' })
})

drawn(
  'a branch that was deleted, or created again without its objects, is written all the same',
  async (t) => {
    const repository = await server.createRepository('tips/again', { branches: ['side'] })
    const change = (path: string) => changeOf(repository.url, path, { branch: 'side' })
    await push(change('a.md'))
    await repository.git('update-ref', '-d', 'refs/heads/side')
    t.match(await push(change('b.md')), { ended: { outcome: 'pushed' } })
    await repository.git('update-ref', '-d', 'refs/heads/side')
    await repository.git('reflog', 'expire', '--expire=all', '--all')
    await repository.git('prune', '--expire=now')
    await repository.commit('side', { 'c.md': 'c' }, 'From nothing')
    t.match(await push(change('d.md')), { ended: { outcome: 'pushed' } })
    t.same(await repository.log('side'), ['Write d.md', 'From nothing'])
    t.equal(await repository.git('fsck', '--strict', '--no-dangling'), '')
  },
)

drawn('a login that has lost its right is told so, and a hook that refuses is quoted', async (t) => {
  const repository = await server.createRepository('tips/right')
  await push(changeOf(repository.url, 'a.md'))
  server.setRight({ password: PASSWORD }, repository.name, 'read')
  t.match(await push(changeOf(repository.url, 'b.md')), {
    ended: { reason: 'PermissionDenied' },
    requests: PUSH,
  })
  server.setRight({ password: PASSWORD }, repository.name, 'write')
  const hooks = {
    'pre-receive':
      '[ "$(git log --format=%s -1 $(cut -d" " -f2))" = "Write bad.md" ] || exit 0; echo "no" >&2; exit 1',
  }
  const strict = await server.createRepository('tips/strict', { hooks })
  await push(changeOf(strict.url, 'a.md'))
  const bad = await push(changeOf(strict.url, 'bad.md'))
  t.match(bad, { ended: { reason: 'PushRejected', message: /reports "no"/ }, requests: PUSH })
  t.match(await push(changeOf(strict.url, 'b.md')), { ended: { outcome: 'pushed' } })
})

drawn('tips are told apart by repository, login and branch, and 2,000 are remembered', async (t) => {
  const tipsOf = rememberTips()
  const tips = tipsOf('https://git.example.com/a.git', 'me', 'shop')
  tips.set('main', '1')
  t.equal(tipsOf('https://git.example.com/a.git', 'me', 'shop').get('main'), '1')
  t.equal(tipsOf('https://git.example.com/a.git', 'you', 'shop').get('main'), undefined)
  t.equal(tipsOf('https://git.example.com/b.git', 'me', 'shop').get('main'), undefined)
  t.equal(tips.get('next'), undefined)
  for (let i = 0; i < 2_000; i += 1) tips.set(`branch-${i}`, '2')
  t.equal(tips.get('main'), undefined)
  tips.forget('branch-9')
  t.equal(tips.get('branch-9'), undefined)
})

drawn('a namespace that has seen very many branches makes others forget none', async (t) => {
  const tipsOf = rememberTips()
  const tips = tipsOf('https://git.example.com/a.git', 'me', 'quiet')
  tips.set('main', '1')
  const loud = tipsOf('https://evil.example.com/b.git', 'it', 'loud')
  for (let i = 0; i < 20_000; i += 1) loud.set(`branch-${i}`, '2')
  t.equal(tips.latest('main'), '1')
  t.equal(loud.get('branch-19999'), '2')
  t.equal(loud.get('branch-17999'), undefined)
})

t.test('a tip that is remembered keeps nothing of the line of its ref in memory', async (t) => {
  const tips = rememberTips()('https://git.example.com/a', 'login', 'team')
  const answer = Buffer.concat([packet(`${'1'.repeat(40)} refs/heads/a x:${'x'.repeat(60_000)}\n`), FLUSH])
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 100; i += 1)
    tips.set(`branch-${i}`, readListedRefs(answer, ['refs/heads/a']).named.get('refs/heads/a')?.id ?? '')
  collect()
  const grown = (process.memoryUsage().heapUsed - before) / (1024 * 1024)
  t.equal(tips.get('branch-99'), '1'.repeat(40))
  t.ok(grown < 3, `${grown} MiB`)
})

t.test(
  'where HEAD points is remembered, and forgotten where it points nowhere, or the name is too long',
  async (t) => {
    const tips = rememberTips()('https://git.example.com/a', 'login', 'team')
    t.equal(tips.getHead(), undefined)
    for (const name of ['refs/heads/main', `refs/heads/${'한'.repeat(255)}`]) {
      tips.setHead(name)
      t.equal(tips.getHead(), name)
    }
    for (const name of ['', `refs/heads/${'x'.repeat(256)}`]) {
      tips.setHead('refs/heads/main')
      tips.setHead(name)
      t.equal(tips.getHead(), '')
    }
  },
)
