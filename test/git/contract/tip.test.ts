import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { GitRepository } from '../../harness/git-repository.ts'
import { engineTest, type Exempt } from './engine-test.ts'
import { WAYS, openStage, outcomeOf, PASSWORD, until } from '../stage.ts'

// Where a branch is, by both engines and through the API.
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

const EXEMPT: Exempt = {
  'a missing branch begins at the default branch': 'the API makes no branch',
  'an empty repository begins with the branch that is named': 'the API makes no branch',
  'an empty repository begins with the branch of its HEAD, as far as that is told': 'the API makes no branch',
  'a default branch that others have left unmade begins where it is named': 'the API makes no branch',
}

let count = 0
const names = (): string => `tip/${++count}`

for (const engine of WAYS) {
  const test = engineTest(t, engine, EXEMPT)
  const requests = engine === 'git binary' ? 3 : 2
  const read = (repository: GitRepository, branch: string | undefined) =>
    stage.remote(engine, repository.url, (remote) => outcomeOf(remote.readTip({ branch })))

  test(`an existing branch is read in ${requests} requests, and followed`, async (t) => {
    const repository = await server.createRepository(names())
    const tip = await repository.commit('main', { 'a.md': 'a' })
    const before = server.requests.length
    await stage.remote(engine, repository.url, async (remote) => {
      t.same(await remote.readTip({ branch: 'main' }), { branch: 'main', commit: tip, exists: true })
      t.equal(server.requests.length - before, requests)
      const next = await repository.commit('main', { 'b.md': 'b' })
      const wanted = { branch: 'main', fresh: true }
      t.same(await remote.readTip(wanted), { branch: 'main', commit: next, exists: true })
    })
  })

  for (const name of ['team/trunk', 'übung7/日本']) {
    test(`the default branch ${name} is known, in as many requests`, async (t) => {
      const repository = await server.createRepository(names(), { defaultBranch: name })
      const before = server.requests.length
      t.match(await read(repository, undefined), { branch: name, exists: true })
      t.equal(server.requests.length - before, requests)
    })
  }

  test('a HEAD that points nowhere is no other ref of that name', async (t) => {
    const repository = await server.createRepository(names(), { empty: true })
    const theirs = await repository.commit('theirs', { 'theirs.md': 'x' })
    await repository.git('update-ref', 'refs/heads/HEAD', theirs)
    t.match(await read(repository, undefined), { reason: 'NotSupported', message: /spec\.branch/ })
  })

  test('a default branch whose name is not UTF-8 is not guessed', async (t) => {
    const repository = await server.createRepository(names())
    const tip = await repository.git('rev-parse', 'main')
    await writeFile(join(repository.path, 'packed-refs'), Buffer.from(`${tip} refs/heads/gr\xf6\n`, 'latin1'))
    await writeFile(join(repository.path, 'HEAD'), Buffer.from('ref: refs/heads/gr\xf6\n', 'latin1'))
    t.match(await read(repository, undefined), { reason: 'NotSupported', message: /spec\.branch/ })
  })

  test('a default branch that has the name of the password is not repeated', async (t) => {
    const repository = await server.createRepository(names(), { defaultBranch: PASSWORD })
    const outcome = await read(repository, undefined)
    t.match(outcome, { reason: 'NotSupported', message: /spec\.branch/ })
    t.notMatch(JSON.stringify(outcome), PASSWORD)
  })

  test('a head that is no branch has no name', async (t) => {
    const repository = await server.createRepository(names())
    await repository.git('update-ref', '--no-deref', 'HEAD', await repository.git('rev-parse', 'main'))
    t.match(await read(repository, undefined), { reason: 'NotSupported', message: /spec\.branch/ })
  })

  test('a missing branch begins at the default branch', async (t) => {
    const repository = await server.createRepository(names(), { branches: ['fresh-2', 'fresh/er'] })
    const tip = await repository.git('rev-parse', 'main')
    t.same(await read(repository, 'fresh'), { branch: 'fresh', commit: tip, exists: false })
  })

  test('an empty repository begins with the branch that is named', async (t) => {
    const repository = await server.createRepository(names(), { empty: true, defaultBranch: 'other' })
    t.same(await read(repository, 'trunk'), { branch: 'trunk', commit: undefined, exists: false })
  })

  // The git binary asks for it only where it clones.
  const begun = engine === 'git binary' ? 'main' : 'team/größe'
  test('an empty repository begins with the branch of its HEAD, as far as that is told', async (t) => {
    const empty = { empty: true, defaultBranch: 'team/größe' }
    const told = await server.createRepository(names(), empty)
    t.same(await read(told, undefined), { branch: begun, commit: undefined, exists: false })
    const silent = await server.createRepository(names(), { ...empty, config: { 'lsrefs.unborn': 'ignore' } })
    t.same(await read(silent, undefined), { branch: 'main', commit: undefined, exists: false })
  })

  test('the HEAD of an empty repository is not repeated either where it has the name of the password', async (t) => {
    const repository = await server.createRepository(names(), { empty: true, defaultBranch: PASSWORD })
    const outcome = await read(repository, undefined)
    if (engine === 'git binary') t.match(outcome, { branch: 'main' })
    else t.match(outcome, { reason: 'NotSupported', message: /spec\.branch/ })
    t.notMatch(JSON.stringify(outcome), PASSWORD)
  })

  test('a default branch that does not exist while others do is reported', async (t) => {
    const repository = await server.createRepository(names(), { branches: ['other'] })
    await repository.git('symbolic-ref', 'HEAD', 'refs/heads/gone')
    const wanted = { reason: 'NotSupported', retry: 'slow', message: /default branch does not exist/ }
    t.match(await read(repository, 'new'), wanted)
    t.match(await read(repository, undefined), wanted)
  })

  // The git binary is not told where a HEAD points that has no commit.
  test('a default branch that others have left unmade begins where it is named', async (t) => {
    const left = { empty: true, defaultBranch: 'trunk' }
    const told = await server.createRepository(names(), left)
    await told.commit('other', { 'other.md': 'x' }, 'Begin elsewhere')
    const begun = { branch: 'trunk', commit: undefined, exists: false }
    t.match(
      await read(told, 'trunk'),
      engine === 'git binary' ? { reason: 'NotSupported', retry: 'slow' } : begun,
    )
    const silent = await server.createRepository(names(), { ...left, config: { 'lsrefs.unborn': 'ignore' } })
    await silent.commit('other', { 'other.md': 'x' }, 'Begin elsewhere')
    t.match(await read(silent, 'trunk'), { reason: 'NotSupported', retry: 'slow' })
  })

  test('a commit that disappears while it is read is a race, not a failure', async (t) => {
    const name = names()
    const config = { 'uploadpack.allowAnySHA1InWant': 'false' }
    const repository = await server.createRepository(name, { config })
    let go = (): void => undefined
    const gone = new Promise<void>((resolve) => (go = resolve))
    const held = { repository: name, command: 'fetch', times: 1 } as const
    server.faults.add({ kind: 'hold', when: 'before', until: gone }, held)
    const work = read(repository, 'main')
    await until('the second request', () =>
      Promise.resolve(server.requests.some((r) => r.repository === name && r.command === 'fetch')),
    )
    await repository.git('update-ref', '-d', 'refs/heads/main')
    await repository.git('reflog', 'expire', '--expire=all', '--all')
    await repository.git('prune', '--expire=now')
    await repository.commit('main', { 'other.md': 'x' }, 'From nothing')
    go()
    t.equal(await work, 'moved')
  })

  test('a wrong password, and a repository that is not there', async (t) => {
    const repository = await server.createRepository(names())
    const wrong = { password: `${PASSWORD}x` }
    const readTip = (url: string, more = {}) =>
      stage.remote(engine, url, (remote) => outcomeOf(remote.readTip({ branch: 'main' })), more)
    t.match(await readTip(repository.url, wrong), { reason: 'AuthenticationFailed' })
    t.match(await readTip(`${server.url}/none.git`), { reason: 'RepositoryNotFound' })
  })

  test('submodules and attributes cost no further request', async (t) => {
    const repository = await server.createRepository(names(), {
      files: {
        '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = https://git.example.com/x\n',
        '.gitattributes': '* text\n',
        x: { mode: '160000', content: '1'.repeat(40) },
      },
    })
    const before = server.requests.length
    t.match(await read(repository, 'main'), { exists: true })
    t.equal(server.requests.length - before, requests)
  })
}
