import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { searchHistory } from '../../../functions/git/session/history.ts'
import { gitEnvironment } from '../../harness/git-backend.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { openStage } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())

const ID = 'f3b0e6c2-0000-4000-8000-000000000001.3'
const MESSAGE = `Write it\n\nSome words.\n\nCommitlet-Resource: shop/config\nCommitlet-Id: ${ID}\n`

async function search(repository: GitRepository, path: string, id = ID): Promise<string | undefined> {
  return stage.session(repository.url, async (session) => {
    await fetchTip(session, { branch: 'main', since: new Date(Date.now() - 3_600_000) })
    return (await searchHistory(session, 'main', [{ id, paths: ['none.md', path] }]))[0]
  })
}

let count = 0
function create(): Promise<GitRepository> {
  return stage.server.createRepository(`history/${++count}`)
}

t.test('a commit with the id that changes the path is found below later ones', async (t) => {
  const repository = await create()
  const sha = await repository.commit('main', { 'a/b.md': '1' }, MESSAGE)
  await repository.commit('main', { 'a/b.md': '2' })
  t.equal(await search(repository, 'a/b.md'), sha)
})

t.test('a commit that changes another path does not count', async (t) => {
  const repository = await create()
  await repository.commit('main', { 'a/c.md': '1' }, MESSAGE)
  t.equal(await search(repository, 'a/b.md'), undefined)
})

t.test('a longer id that begins with this one does not count', async (t) => {
  const repository = await create()
  await repository.commit('main', { 'a/b.md': '1' }, MESSAGE.replace(ID, `${ID}4`))
  t.equal(await search(repository, 'a/b.md'), undefined)
})

t.test('the id in the text of a message does not count', async (t) => {
  const repository = await create()
  await repository.commit('main', { 'a/b.md': '1' }, `Revert\n\nCommitlet-Id: ${ID}\n\nThat was too much.\n`)
  t.equal(await search(repository, 'a/b.md'), undefined)
})

t.test('the first commit of a repository counts', async (t) => {
  const repository = await stage.server.createRepository('history/first', { empty: true })
  const sha = await repository.commit('main', { 'a/b.md': '1' }, MESSAGE)
  t.equal(await search(repository, 'a/b.md'), sha)
})

t.test('a commit at the edge of what was fetched is compared with its parent', async (t) => {
  const repository = await stage.server.createRepository('history/edge', { empty: true })
  await repository.commit('main', { 'a/b.md': 'old', 'a/c.md': 'old' })
  await repository.git('update-ref', 'refs/heads/main', await age(repository))
  await t.test('it counts where it changes the path', async (t) => {
    const sha = await repository.commit('main', { 'a/c.md': 'new' }, MESSAGE)
    t.equal(await search(repository, 'a/c.md'), sha)
  })
  await t.test('and does not where it only has the path', async (t) => {
    t.equal(await search(repository, 'a/b.md'), undefined)
  })
})

t.test('a commit below one with an old date is found', async (t) => {
  const repository = await create()
  const sha = await repository.commit('main', { 'a/b.md': '1' }, MESSAGE)
  const old = await commitOn(repository, sha, '2020-01-01T00:00:00Z')
  await repository.git('update-ref', 'refs/heads/main', await commitOn(repository, old))
  t.equal(await search(repository, 'a/b.md'), sha)
})

t.test('a complete history is searched without another request', async (t) => {
  const repository = await create()
  await repository.commit('main', { 'a/b.md': '1' })
  const before = stage.server.requests.length
  t.equal(await search(repository, 'a/b.md'), undefined)
  t.equal(stage.server.requests.length - before, 3)
})

/** The tip of main, as if it had been made two hours ago. */
function age(repository: GitRepository): Promise<string> {
  return commitOn(repository, undefined, new Date(Date.now() - 7_200_000).toISOString())
}

/** A commit of main's tree on this parent, dated so. */
async function commitOn(
  { path }: GitRepository,
  parent: string | undefined,
  date = new Date().toISOString(),
): Promise<string> {
  const env = { ...gitEnvironment(), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  const parents = parent === undefined ? [] : ['-p', parent]
  const args = ['commit-tree', ...parents, '-m', 'Dated', 'main^{tree}']
  const { stdout } = await promisify(execFile)('git', args, { cwd: path, env })
  return stdout.trim()
}
