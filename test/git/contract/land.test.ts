import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Change } from '../../../functions/domain/commit/change.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { GitRepository, RepositoryOptions } from '../../harness/git-repository.ts'
import { waitFor } from '../../harness/wait.ts'
import { engineTest, type Exempt } from './engine-test.ts'
import { changeOf, endingsOf, openStage, pathOf, patience, pending, WAYS } from '../stage.ts'

// What only a real server can prove: the writer on both engines, and through the API. Its decisions are tested in writer/.
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

/** The first push waits until the file `late` is removed, in which the id of its process is. */
const WAITS_ONCE =
  'cd "$GIT_DIR"; [ -e once ] && exit 0; touch once; echo $PPID > late; while [ -e late ]; do sleep 0.02; done'

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** What commits by the API do not keep, or what is not there to fail; all but the first five are in api-remote.test.ts. */
const EXEMPT: Exempt = {
  'one change is one commit with its author, message and file, in few requests':
    'the author is whose token it is',
  'a hundred changes are a hundred commits in one push, in their order': 'each commit is a call',
  'a commit that the server rejects fails alone, its neighbour lands': 'no hook of Git runs',
  'a ref that cannot be written, though nobody moved it, is refused': 'no hook of Git runs',
  'several files are one commit, whatever their paths': 'one of them is executable',
  'an executable file stays one': 'files have no modes',
  'what is broken at the tip ends an attempt, and no later one once it is fixed':
    'the host reads its own tree',
  'edits and removals are one commit, one fetch more, and modes stay': 'files have no modes',
  'a new branch gets the commit': 'the API makes no branch',
  'an empty repository gets the commit': 'the API makes no branch',
  'a named branch of an empty repository gets the commit': 'the API makes no branch',
  'an empty repository from which there is nothing to remove gets its branch': 'the API makes no branch',
  'a commit whose answer is lost while another writer pushes is found at once': 'nothing is pushed',
  'a push that a proxy sends twice is made once, also where another writer has changed the file':
    'nothing is pushed',
  'a branch that moves between fetch and push is followed': 'nothing is pushed',
  'an empty commit lets an earlier push fail that the server carries out late': 'nothing is pushed',
}

let count = 0
function create(options: RepositoryOptions = {}): Promise<GitRepository> {
  return server.createRepository(`land/${++count}`, options)
}

for (const engine of WAYS) {
  const test = engineTest(t, engine, EXEMPT)
  const REQUESTS = engine === 'git binary' ? { push: 5, read: 3, file: 2 } : { push: 3, read: 2, file: 1 }

  /** Lands the changes as one batch, or one by one through the API; returns how each ended, and the requests it took. */
  async function landAll(repository: GitRepository, changes: readonly Change[]) {
    const batches = engine === 'API' ? changes.map((change) => [change]) : [changes]
    const [before, made] = [server.requests.length, stage.host.made.length]
    const results: Awaited<ReturnType<typeof endingsOf>>[number][] = []
    for (const some of batches) {
      const batch = some.map((change) => pending(change))
      const landing = stage.remote(engine, repository.url, (remote) =>
        endingsOf(batch, land(remote, { batch, signal: patience() })),
      )
      results.push(...(await landing))
    }
    const requests = server.requests.slice(before)
    const pushes = requests.filter(({ exchange }) => exchange === 'receive-pack').length
    return { results, requests: requests.length, pushes: pushes + stage.host.made.length - made }
  }

  test('one change is one commit with its author, message and file, in few requests', async (t) => {
    const repository = await create()
    const change = changeOf(repository.url, 'a/"b" ü.md', {
      author: { name: 'Another\nWriter', email: 'writer@example.com' },
    })
    const { results, requests } = await landAll(repository, [change])
    const sha = await repository.git('rev-parse', 'main')
    t.same(results, [{ outcome: 'pushed', sha, branch: 'main' }])
    t.equal(requests, REQUESTS.push)
    t.equal(await repository.show('main:a/"b" ü.md'), 'content of a/"b" ü.md\n')
    const shown = await repository.git(
      'log',
      '-1',
      '--format=%an <%ae>|%cn|%s|%(trailers:key=Commitlet-Id,valueonly)',
      'main',
    )
    t.equal(shown.trim(), `AnotherWriter <writer@example.com>|AnotherWriter|Write a/"b" ü.md|${change.id}`)
    t.equal(await repository.git('fsck', '--strict'), '')
  })

  // What the direct engine cannot read is for the git binary, which has the last word.
  test('what is broken at the tip ends an attempt, and no later one once it is fixed', async (t) => {
    const repository = await create()
    const before = await repository.git('rev-parse', 'main')
    await repository.git('update-ref', 'refs/heads/main', await brokenCommit(repository, before))
    const change = changeOf(repository.url, 'a.md')
    t.match((await landAll(repository, [change])).results, [
      {
        retry: 'transient',
        ...(engine === 'git binary' ? { reason: 'NotSupported', message: /a broken object/ } : {}),
      },
    ])
    await repository.git('update-ref', 'refs/heads/main', before)
    t.match((await landAll(repository, [change])).results, [{ outcome: 'pushed' }])
  })

  test('a hundred changes are a hundred commits in one push, in their order', async (t) => {
    const repository = await create()
    const changes = Array.from({ length: 100 }, (_, i) => changeOf(repository.url, `dir-${i % 7}/${i}.md`))
    const { results, requests } = await landAll(repository, changes)
    t.equal(requests, REQUESTS.push)
    t.same(await repository.log('main'), [
      ...changes.map((change) => `Write ${pathOf(change)}`).reverse(),
      'Begin',
    ])
    const shas = (await repository.git('rev-list', '--reverse', 'main')).split('\n').slice(1)
    t.same(
      results,
      shas.map((sha) => ({ outcome: 'pushed', sha, branch: 'main' })),
    )
  })

  test('content that is there already makes no commit and no push', async (t) => {
    const repository = await create({ files: { 'a.md': { mode: '100755', content: 'same' } } })
    const { results, requests } = await landAll(repository, [
      changeOf(repository.url, 'a.md', { text: 'same' }),
    ])
    t.same(results, [
      { outcome: 'unchanged', sha: await repository.git('rev-parse', 'main'), branch: 'main' },
    ])
    t.equal(requests, REQUESTS.read)
  })

  test('an executable file stays one', async (t) => {
    const repository = await create({ files: { 'run.sh': { mode: '100755', content: 'old' } } })
    await landAll(repository, [changeOf(repository.url, 'run.sh')])
    t.match(await repository.git('ls-tree', 'main'), /^100755 .*run\.sh/)
  })

  for (const { name, branch, options, expected } of [
    { name: 'the default branch', branch: undefined, options: { defaultBranch: 'trunk' }, expected: 'trunk' },
    { name: 'another branch', branch: 'next', options: { branches: ['next'] }, expected: 'next' },
    { name: 'a new branch', branch: 'team/fresh', options: {}, expected: 'team/fresh' },
    { name: 'an empty repository', branch: undefined, options: { empty: true }, expected: 'main' },
    {
      name: 'a named branch of an empty repository',
      branch: 'trunk',
      options: { empty: true },
      expected: 'trunk',
    },
  ]) {
    test(`${name} gets the commit`, async (t) => {
      const repository = await create(options)
      const { results } = await landAll(repository, [
        changeOf(repository.url, 'a.md', { branch }),
        changeOf(repository.url, 'b.md', { branch }),
      ])
      const sha = await repository.git('rev-parse', `refs/heads/${expected}`)
      t.match(results[1], { outcome: 'pushed', sha, branch: expected })
      t.equal((await repository.log(expected)).length, 'empty' in options ? 2 : 3)
    })
  }

  test('an empty repository from which there is nothing to remove gets its branch', async (t) => {
    const repository = await create({ empty: true })
    const removal = (path: string): Change => ({ ...changeOf(repository.url, path), files: [{ path }] })
    const { results } = await landAll(repository, [removal('a.md'), removal('b/c.md')])
    const unchanged = { outcome: 'unchanged', sha: await repository.git('rev-parse', 'main'), branch: 'main' }
    t.same(results, [unchanged, unchanged])
    t.same(await repository.log('main'), ['Begin main'])
    t.equal(await repository.git('ls-tree', 'main'), '')
    t.match((await landAll(repository, [removal('a.md')])).results, [unchanged])
  })

  test('a commit that the server rejects fails alone, its neighbour lands', async (t) => {
    const hook =
      'while read old new ref; do if git log --name-only --format= $old..$new | grep -q bad; then echo "bad file" >&2; exit 1; fi; done'
    const repository = await create({ hooks: { 'pre-receive': hook } })
    const changes = ['bad/1', '2'].map((path) => changeOf(repository.url, path))
    const { results } = await landAll(repository, changes)
    t.match(results, [{ reason: 'PushRejected', message: /reports "bad file"/ }, { outcome: 'pushed' }])
    t.same(await repository.log('main'), ['Write 2', 'Begin'])
  })

  test('a change whose answer was lost is found in history, below later commits of others', async (t) => {
    const repository = await create()
    const change = changeOf(repository.url, 'a.md')
    await landAll(repository, [change])
    const sha = await repository.git('rev-parse', 'main')
    await repository.commit('main', { 'a.md': 'by another' })
    const again = { ...change, since: new Date(Date.now() - 3_600_000) }
    const { results, pushes } = await landAll(repository, [
      again,
      { ...changeOf(repository.url, 'b.md'), since: again.since },
    ])
    t.match(results, [{ outcome: 'found', sha }, { outcome: 'pushed' }])
    t.equal(pushes, 1)
    t.equal(await repository.show('main:a.md'), 'by another')
  })

  test('a commit whose answer is lost while another writer pushes is found at once', async (t) => {
    const post =
      'git commit-tree -p main -m Other main^{tree} | xargs git update-ref refs/heads/main; rm "$GIT_DIR/hooks/post-receive"'
    const repository = await create({ hooks: { 'post-receive': post } })
    t.teardown(
      server.faults.add(
        { kind: 'lost' },
        { repository: repository.name, exchange: 'receive-pack', times: 1 },
      ),
    )
    const { results } = await landAll(repository, [changeOf(repository.url, 'a.md')])
    t.match(results, [{ outcome: 'found', sha: await repository.git('rev-parse', 'main^') }])
    t.same(await repository.log('main'), ['Other', 'Write a.md', 'Begin'])
  })

  test('a push that a proxy sends twice is made once, also where another writer has changed the file', async (t) => {
    const repository = await create()
    const twice = {
      kind: 'twice',
      between: () => repository.commit('main', { 'a.md': 'by another' }),
    } as const
    server.faults.add(twice, { repository: repository.name, exchange: 'receive-pack', times: 1 })
    const { results, pushes } = await landAll(repository, [changeOf(repository.url, 'a.md')])
    t.match(results, [{ outcome: 'found', sha: await repository.git('rev-parse', 'main^') }])
    t.equal(pushes, 1)
    t.equal(await repository.show('main:a.md'), 'by another')
  })

  test('a branch that moves between fetch and push is followed', async (t) => {
    const repository = await create()
    let release = (): void => undefined
    const moved = new Promise<void>((resolve) => (release = resolve))
    server.faults.add(
      { kind: 'hold', when: 'before', until: moved },
      {
        repository: repository.name,
        exchange: engine === 'direct' ? 'receive-pack' : 'receive-pack-refs',
        times: 1,
      },
    )
    const work = landAll(repository, [changeOf(repository.url, 'a.md')])
    await repository.commit('main', { 'a.md': 'by another', 'b.md': 'x' })
    release()
    t.match((await work).results, [{ outcome: 'pushed' }])
    t.match(await repository.log('main'), ['Write a.md', 'Another writer was here', 'Begin'])
  })

  test('an empty commit lets an earlier push fail that the server carries out late', async (t) => {
    const repository = await create({ files: { 'a.md': 'new' }, hooks: { 'pre-receive': WAITS_ONCE } })
    const late = join(repository.path, 'late')
    const gone = new AbortController()
    const old = pending(changeOf(repository.url, 'a.md', { text: 'old' }))
    const broken = stage.remote(
      engine,
      repository.url,
      (remote) => endingsOf([old], land(remote, { batch: [old], signal: gone.signal })),
      { signal: gone.signal },
    )
    await waitFor('the first push has come', () => existsSync(late) || undefined, 10_000)
    gone.abort()
    await broken.catch(() => undefined)
    const { results } = await landAll(repository, [
      changeOf(repository.url, 'a.md', { text: 'new', latePush: true }),
    ])
    const tip = await repository.git('rev-parse', 'main')
    t.same(results, [{ outcome: 'unchanged', sha: tip, branch: 'main' }])
    t.same(await repository.log('main'), ['Keep a.md', 'Begin'])
    t.equal(await repository.git('diff', 'main^', 'main'), '')
    const receiver = Number(readFileSync(late, 'utf8'))
    t.ok(isAlive(receiver), 'the server is still at work on it')
    rmSync(late)
    await waitFor('the first push has ended', () => !isAlive(receiver) || undefined, 10_000)
    t.equal(await repository.git('rev-parse', 'main'), tip)
  })

  test('a ref that cannot be written, though nobody moved it, is refused', async (t) => {
    const hook = 'rm -rf "$GIT_DIR/logs" && touch "$GIT_DIR/logs"'
    const repository = await create({ hooks: { 'pre-receive': hook } })
    const { results, pushes } = await landAll(repository, [changeOf(repository.url, 'a.md')])
    t.match(results, [{ reason: 'PushRejected' }])
    t.equal(pushes, 1)
  })

  test('a failure of the network fails all changes, without a retry', async (t) => {
    const repository = await create()
    t.teardown(
      server.faults.add(
        { kind: 'status', status: 503, headers: { 'Retry-After': '7' } },
        { repository: repository.name },
      ),
    )
    const { results, requests } = await landAll(
      repository,
      ['a', 'b'].map((path) => changeOf(repository.url, path)),
    )
    for (const result of results) t.match(result, { reason: 'ProviderUnavailable', retryAfterSeconds: 7 })
    t.equal(requests, engine === 'API' ? results.length : 1)
  })

  test('several files are one commit, whatever their paths', async (t) => {
    const repository = await create({ files: { same: 'same', 'old.sh': { mode: '100755', content: 'old' } } })
    const files = ['same', 'old.sh', 'new/a.md', 'new/"b"'].map((path) => ({
      path,
      content: Buffer.from('same'),
    }))
    const change = changeOf(repository.url, 'many', { files })
    const { results } = await landAll(repository, [change])
    t.same(results, [{ outcome: 'pushed', sha: await repository.git('rev-parse', 'main'), branch: 'main' }])
    t.same(
      (await repository.git('diff-tree', '-r', '--name-only', '-z', 'main^', 'main')).split('\0').sort(),
      ['', 'new/"b"', 'new/a.md', 'old.sh'],
    )
    t.match(await repository.git('ls-tree', 'main', 'old.sh'), /^100755/)
    await repository.commit('main', { 'new/a.md': 'by another' })
    const since = new Date(Date.now() - 3_600_000)
    const again = await landAll(repository, [{ ...change, since }])
    t.match(again.results, [{ outcome: 'found', sha: await repository.git('rev-parse', 'main^') }])
  })

  test('edits and removals are one commit, one fetch more, and modes stay', async (t) => {
    const repository = await create({
      files: {
        'values.yaml': 'tag: 1\n',
        'run.sh': { mode: '100755', content: 'old\n' },
        'deep/down/only': 'x',
      },
    })
    const edit = (before: Uint8Array) => Buffer.concat([before, Buffer.from('more\n')])
    const files = [{ path: 'values.yaml', edit }, { path: 'run.sh', edit }, { path: 'deep/down/only' }]
    const gone = changeOf(repository.url, 'gone', { files: [{ path: 'gone' }, { path: 'deep/down/only' }] })
    const { results, requests, pushes } = await landAll(repository, [
      changeOf(repository.url, 'many', { files }),
      gone,
    ])
    const sha = await repository.git('rev-parse', 'main')
    t.match(results, [
      { outcome: 'pushed', sha },
      { outcome: 'unchanged', sha },
    ])
    t.equal(pushes, 1)
    t.equal(requests, REQUESTS.push + REQUESTS.file)
    t.equal(await repository.show('main:values.yaml'), 'tag: 1\nmore\n')
    t.match(await repository.git('ls-tree', '-r', 'main'), /100755 blob \w+\trun\.sh/)
    t.notMatch(await repository.git('ls-tree', '-r', '-t', 'main'), /deep/)
    t.equal(await repository.git('fsck', '--strict'), '')
    const since = new Date(Date.now() - 3_600_000)
    const removal = changeOf(repository.url, 'run.sh', { files: [{ path: 'run.sh' }] })
    t.match((await landAll(repository, [removal])).results, [{ outcome: 'pushed' }])
    t.match((await landAll(repository, [{ ...removal, since }])).results, [{ outcome: 'found' }])
  })

  test('a file that is too large to be edited fails alone', async (t) => {
    const zeros = '0'.repeat(2 * 1024 * 1024)
    const huge = zeros.repeat(4)
    const repository = await create({ files: { huge, large: `${zeros}0`, largest: zeros, small: '0' } })
    const edit = (before: Uint8Array) => before.subarray(1)
    const changes = ['huge', 'large', 'largest', 'small'].map((path) =>
      changeOf(repository.url, path, { files: [{ path, edit }] }),
    )
    const { results } = await landAll(repository, changes)
    t.match(results, [
      { reason: 'NotSupported', message: /"huge" .* more than 2 MiB/ },
      { reason: 'NotSupported', message: /"large" .* more than 2 MiB/ },
      { outcome: 'pushed' },
      { outcome: 'pushed' },
    ])
    t.equal(await repository.git('cat-file', '-s', 'main:largest'), String(zeros.length - 1))
  })

  test('a file that the remote does not have any more is a branch that has moved', async (t) => {
    const repository = await create()
    const reading = stage.remote(engine, repository.url, async (remote) => {
      const tip = await remote.readTip({ branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      return remote.readBlobs(tip, ['1'.repeat(40)], 1_000)
    })
    await t.rejects(reading, { message: /moved while it was read/ })
  })

  test('the last file of a repository can be removed', async (t) => {
    const repository = await create({ empty: true })
    await repository.commit('main', { 'a/only.md': 'x' })
    const removal = changeOf(repository.url, 'a', { files: [{ path: 'a/only.md' }] })
    t.match((await landAll(repository, [removal])).results, [{ outcome: 'pushed' }])
    t.equal(await repository.git('ls-tree', '-r', 'main'), '')
    t.equal(await repository.git('fsck', '--strict'), '')
  })
}

/** A commit on another one whose tree has an entry `.git`, as servers take it that do not check what they get. */
async function brokenCommit(repository: GitRepository, parent: string): Promise<string> {
  const entry = Buffer.concat([Buffer.from('100644 .git\0'), randomBytes(20)])
  const args = ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin']
  const tree = execFileSync('git', ['-C', repository.path, ...args], { input: entry, encoding: 'latin1' })
  return repository.git('commit-tree', tree.trim(), '-p', parent, '-m', 'Broken')
}
