import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { gitEnvironment } from '../../harness/git-backend.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { drawnTests, type DefineTest } from '../../harness/drawn-test.ts'
import { WAYS, openStage } from '../stage.ts'

// The commits of earlier attempts, found by both engines and through the API: more for the git binary, whose search is tested only here.
const stage = await openStage()
t.teardown(() => stage.close())

const ID = 'f3b0e6c2-0000-4000-8000-000000000001.3'
const MESSAGE = `Write it\n\nSome words.\n\nCommitlet-Resource: shop/config\nCommitlet-Id: ${ID}\n`
const SEALS = ['0123456789abcdef', 'fedcba9876543210']
const HOUR = 3_600_000

let count = 0
function create(options = {}): Promise<GitRepository> {
  return stage.server.createRepository(`history/${++count}`, options)
}

for (const engine of WAYS) {
  const drawn = drawnTests(t, 4)
  const test: DefineTest = (title, run) => drawn(`${engine}: ${title}`, run)

  async function search(
    repository: GitRepository,
    path: string,
    since = new Date(Date.now() - HOUR),
    seals?: readonly string[],
  ): Promise<string | undefined> {
    return stage.remote(engine, repository.url, async (remote) => {
      const tip = await remote.readTip({ branch: 'main', since })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      const other = { id: `${ID}0`, paths: [path] }
      const found = await remote.findLanded(tip, [other, { id: ID, seals, paths: ['none.md', path] }])
      t.equal(found[0], undefined)
      return found[1]
    })
  }

  void test('a commit with the id that changes the path is found below later ones', async (t) => {
    const repository = await create()
    const sha = await repository.commit('main', { 'a/b.md': '1' }, MESSAGE)
    await repository.commit('main', { 'a/b.md': '2' })
    t.equal(await search(repository, 'a/b.md'), sha)
    t.equal(await search(repository, 'a/b.md', new Date(Date.now() + HOUR)), sha, 'where none is that new')
  })

  void test('a server that says that no commit is as new as the date is searched as well', async (t) => {
    const repository = await create()
    const sha = await repository.commit('main', { 'a/b.md': '1' }, MESSAGE)
    const words = 'ERR No commits selected for shallow request\n'
    const body = (words.length + 4).toString(16).padStart(4, '0') + words
    const headers = { 'content-type': 'application/x-git-upload-pack-result' }
    const at = { repository: repository.name, exchange: 'upload-pack', command: 'fetch' } as const
    const skip = engine === 'git binary' ? 0 : 1
    t.teardown(
      stage.server.faults.add({ kind: 'status', status: 200, body, headers }, { ...at, skip, times: 1 }),
    )
    t.equal(await search(repository, 'a/b.md'), sha)
  })

  void test('a commit that changes another path does not count', async (t) => {
    const repository = await create()
    await repository.commit('main', { 'a/c.md': '1' }, MESSAGE)
    t.equal(await search(repository, 'a/b.md'), undefined)
  })

  void test('another id, and an id in the text of a message, do not count', async (t) => {
    const repository = await create()
    await repository.commit('main', { 'a/b.md': '1' }, MESSAGE.replace(ID, `${ID}4`))
    await repository.commit(
      'main',
      { 'a/b.md': '2' },
      `Revert\n\nCommitlet-Id: ${ID}\n\nThat was too much.\n`,
    )
    await repository.commit('main', { 'a/b.md': '3' }, `Revert\n\nThis is about\nCommitlet-Id: ${ID}\n`)
    t.equal(await search(repository, 'a/b.md'), undefined)
  })

  void test('a commit with the id of a request that is to come does not count without a seal for it', async (t) => {
    const repository = await create()
    const sought = (): Promise<string | undefined> => search(repository, 'a/b.md', undefined, SEALS)
    const [first = '', older = ''] = SEALS
    for (const [i, forged] of [
      '',
      'Commitlet-Seal: 0123456789abcde0\n',
      'Commitlet-Seal: 0123456789abcdef0\n',
      `Commitlet-Seal: ${first} ${older}\n`,
      `Commitlet-Seal: x\n ${first}\n`,
      `Commitlet-Id: ${first}\n`,
      `Sealed: Commitlet-Seal: ${first}\n`,
    ].entries())
      await repository.commit('main', { 'a/b.md': String(i) }, `${MESSAGE}${forged}`)
    t.equal(await sought(), undefined)
    for (const seal of SEALS) {
      const sha = await repository.commit('main', { 'a/b.md': seal }, `${MESSAGE}Commitlet-Seal: ${seal}\n`)
      t.equal(await sought(), sha, seal)
      await repository.git('update-ref', 'refs/heads/main', `${sha}^`)
    }
    t.not(await search(repository, 'a/b.md'), undefined, 'without a key the id is enough')
  })

  void test('a commit with the joined messages of 16 requests counts for each, by each of its seals', async (t) => {
    const repository = await create()
    const sealOf = (request: number, seal: number): string => String(request * 3 + seal).padStart(16, '0')
    const trailersOf = (request: number): string =>
      [0, 1, 2].map((seal) => `Commitlet-Seal: ${sealOf(request, seal)}\n`).join('')
    const joined = Array.from({ length: 16 }, (_, i) => `Commitlet-Id: ${ID}${i || ''}\n${trailersOf(i)}`)
    const sha = await repository.commit('main', { 'a/b.md': '1' }, `Join them\n\n${joined.join('')}`)
    for (const seal of [0, 1, 2])
      t.equal(await search(repository, 'a/b.md', undefined, [sealOf(0, seal)]), sha)
    t.equal(await search(repository, 'a/b.md', undefined, [sealOf(16, 0)]), undefined)
  })

  void test('a trailer that goes on in the next line has another value', async (t) => {
    const repository = await create()
    const others = [`Commitlet-Id: x\n ${ID}`, `Commitlet-Id: ${ID}\n more`].entries()
    for (const [i, other] of others) {
      const note = `Note: Commitlet-Id: ${ID}`
      await repository.commit('main', { 'a/b.md': String(i) }, `Write it\n\n${other}\n${note}\n`)
    }
    t.equal(await search(repository, 'a/b.md'), undefined)
    const sha = await repository.commit('main', { 'a/b.md': 'x' }, `${MESSAGE}Commitlet-Id: x\n ${ID}\n`)
    t.equal(await search(repository, 'a/b.md'), sha)
  })

  void test('a commit is found whatever lines of blanks its message has', async (t) => {
    const repository = await create()
    const messages = [' ', '\t', '\n \n'].map((line) =>
      MESSAGE.replace(/\n\n(?=Commitlet)/, `\n${line}\nRefs: #12\n`),
    )
    messages.push(`${MESSAGE} \n\t\n`, `${MESSAGE}\n# a comment\n`, `${MESSAGE}Commitlet-Id: ${ID}4\n`)
    for (const [i, message] of messages.entries()) {
      // Of commits of one second the server may send any first.
      const path = `a/${i}.md`
      const sha = await repository.commit('main', { [path]: 'x' }, message)
      t.equal(await search(repository, path), sha, JSON.stringify(message))
    }
  })

  void test('the first commit of a repository counts', async (t) => {
    const repository = await create({ empty: true })
    const sha = await repository.commit('main', { 'a/b.md': '1' }, MESSAGE)
    t.equal(await search(repository, 'a/b.md'), sha)
  })

  void test('a commit at the edge of what was fetched is compared with its parent', async (t) => {
    const repository = await create({ empty: true })
    await repository.commit('main', { 'a/b.md': 'old', 'a/c.md': 'old' })
    const old = await commitOn(repository, undefined, new Date(Date.now() - 2 * HOUR))
    await repository.git('update-ref', 'refs/heads/main', old)
    const sha = await repository.commit('main', { 'a/c.md': 'new' }, MESSAGE)
    t.equal(await search(repository, 'a/c.md'), sha, 'it changes the path')
    t.equal(await search(repository, 'a/b.md'), undefined, 'it only has the path')
  })

  void test('a commit below one with an old date is found', async (t) => {
    const repository = await create()
    const sha = await repository.commit('main', { 'a/b.md': '1' }, MESSAGE)
    const old = await commitOn(repository, sha, new Date('2020-01-01T00:00:00Z'))
    await repository.git('update-ref', 'refs/heads/main', await commitOn(repository, old))
    t.equal(await search(repository, 'a/b.md'), sha)
  })

  void test('a merge counts where it changes the path', async (t) => {
    const repository = await create({ branches: ['side'] })
    await repository.commit('side', { 'a/b.md': 'side' })
    const tree = await repository.git('rev-parse', 'side^{tree}')
    const merge = await repository.git('commit-tree', '-p', 'main', '-p', 'side', '-m', MESSAGE, tree)
    await repository.git('update-ref', 'refs/heads/main', merge)
    t.equal(await search(repository, 'a/b.md'), merge)
    t.equal(await search(repository, 'README.md'), undefined)
  })

  void test('a complete history is searched without another request', async (t) => {
    const repository = await create()
    await repository.commit('main', { 'a/b.md': '1' })
    const before = stage.server.requests.length
    t.equal(await search(repository, 'a/b.md'), undefined)
    t.equal(stage.server.requests.length - before, 3)
  })
}

/** A commit of main's tree on this parent, dated so. */
async function commitOn(
  { path }: GitRepository,
  parent: string | undefined,
  at = new Date(),
): Promise<string> {
  const date = at.toISOString()
  const env = { ...gitEnvironment(), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  const parents = parent === undefined ? [] : ['-p', parent]
  const args = ['commit-tree', ...parents, '-m', 'Dated', 'main^{tree}']
  const { stdout } = await promisify(execFile)('git', args, { cwd: path, env })
  return stdout.trim()
}
