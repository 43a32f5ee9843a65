import t from 'tap'
import type { ApiCommit, ApiCommitted, CommitByAPI } from '../../functions/domain/commit/commit-by-api.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { commitTo } from './api-committer.ts'
import { changeOf, ENGINES, loginOf, openStage, PASSWORD } from './stage.ts'

// Commits that a host makes, read by both engines.
const stage = await openStage()
t.teardown(() => stage.close())
const NEVER = new AbortController().signal
const LOST = new Failure('ProviderUnavailable', 'Nobody knows.')

/** What happens to one call, before or after the commit is made; default: it is answered. */
type Fault = (commit: () => ApiCommitted, asked: ApiCommit) => ApiCommitted | Promise<ApiCommitted>

/** A host that makes commits; `faults`: one for each of the first calls. */
function hostOf(repository: GitRepository, faults: readonly Fault[] = []) {
  const asked: ApiCommit[] = []
  const commitByAPI: CommitByAPI = async (given, { remaining = () => Infinity }) => {
    if (remaining() <= 0) return { kind: 'race' }
    const fault = faults[asked.push(given) - 1]
    const make = (): ApiCommitted => commitTo(repository, given)
    return fault === undefined ? make() : fault(make, given)
  }
  return { asked, commitByAPI }
}

let count = 0
for (const name of ENGINES) {
  const engine = name === 'direct' ? 'direct' : 'binary'

  async function start(files = {}) {
    const repository = await stage.server.createRepository(`api/${++count}`, files)
    const git = stage.open({ engine })
    const push = (path: string, { commitByAPI }: ReturnType<typeof hostOf>, more = {}): Promise<unknown> =>
      git.push(changeOf(repository.url, path, { commitByAPI, ...more }), loginOf(PASSWORD), NEVER)
    return { repository, git, push }
  }

  t.test(`${name}: each change is a commit of its own, on what others have written meanwhile`, async (t) => {
    const { repository, push } = await start()
    const before = await repository.git('rev-parse', 'main')
    const host = hostOf(repository, [
      async (make) => {
        await repository.commit('main', { 'other.md': 'other' }, 'Other')
        return make()
      },
    ])
    const landed = await Promise.all(['a.md', 'b.md', 'c.md'].map((path) => push(path, host)))
    const history = (await repository.git('rev-list', `${before}..main`)).split('\n')
    t.equal(history.length, 4)
    for (const one of landed) {
      t.match(one, { outcome: 'pushed', branch: 'main' })
      t.ok(history.includes((one as { readonly sha: string }).sha))
    }
    t.equal(host.asked.length, 4)
    t.ok(host.asked.every(({ files }) => files.length === 1))
    t.match(await push('a.md', host), { outcome: 'unchanged', sha: history[0] })
    t.equal(host.asked.length, 4, 'nothing to be written')
  })

  t.test(`${name}: a commit whose answer was lost is found, or is left to the next attempt`, async (t) => {
    const { repository, push } = await start()
    const landing = hostOf(repository, [
      (make) => {
        make()
        return { kind: 'lost', failure: LOST }
      },
    ])
    const found = await push('a.md', landing)
    t.match(found, { outcome: 'found', sha: await repository.git('rev-parse', 'main') })
    const failing = hostOf(repository, [() => ({ kind: 'lost', failure: LOST })])
    await t.rejects(push('b.md', failing), LOST)
    t.strictSame([landing.asked.length, failing.asked.length], [1, 1])
    const refusing = hostOf(repository, [() => Promise.reject(new Failure('PushRejected', 'No.'))])
    await t.rejects(push('b.md', refusing), { reason: 'PushRejected', message: 'No.' })
  })

  t.test(`${name}: a call that a proxy sends twice makes one commit, whoever writes over it`, async (t) => {
    const { repository, push } = await start()
    const host = hostOf(repository, [
      async (make) => {
        make()
        await repository.commit('main', { 'a.md': 'by another' })
        return { kind: 'race' }
      },
    ])
    const found = await push('a.md', host)
    t.match(found, { outcome: 'found', sha: await repository.git('rev-parse', 'main^') })
    t.equal(host.asked.length, 1)
    t.equal(await repository.show('main:a.md'), 'by another')
  })

  t.test(`${name}: an empty commit takes a late push's place, and no file is executable`, async (t) => {
    const { repository, git, push } = await start({
      files: { 'a.md': 'content of a.md\n', 'run.sh': { mode: '100755', content: 'old' } },
    })
    const host = hostOf(repository)
    t.match(await push('a.md', host, { latePush: true }), { outcome: 'unchanged' })
    t.strictSame(
      host.asked.map(({ files }) => files),
      [[]],
    )
    t.equal(await repository.git('diff', '--stat', 'main^', 'main'), '')
    const executable = {
      reason: 'NotSupported',
      retry: 'slow',
      message: /^The file "run\.sh" in \S+ is executable/,
    }
    await t.rejects(push('run.sh', host), executable)
    const change = changeOf(repository.url, 'run.sh', { commitByAPI: host.commitByAPI })
    t.match(
      await git.preview(change, loginOf(PASSWORD), NEVER),
      { files: executable },
      'a preview says it, too',
    )
    t.equal(host.asked.length, 1)
  })

  t.test(`${name}: the API is told for how long the claim still holds`, async (t) => {
    const { repository, git } = await start()
    const { asked, commitByAPI } = hostOf(repository)
    const times = [0, 0, 5_000]
    const claim = { confirm: () => Promise.resolve(), remaining: () => times.shift() ?? 0 }
    const change = changeOf(repository.url, 'a.md', { commitByAPI })
    t.match(await git.push(change, loginOf(PASSWORD), NEVER, { claim }), { outcome: 'pushed' })
    t.strictSame([asked.length, times.length], [1, 0])
  })

  t.test(`${name}: no branch is made`, async (t) => {
    const { repository, git, push } = await start()
    const host = hostOf(repository)
    const message = /^The branch none is not in \S+, and the API makes no branch.* request another attempt/
    await t.rejects(push('a.md', host, { branch: 'none' }), {
      reason: 'NotSupported',
      retry: 'slow',
      message,
    })
    const change = changeOf(repository.url, 'a.md', { commitByAPI: host.commitByAPI, branch: 'none' })
    await t.rejects(git.preview(change, loginOf(PASSWORD), NEVER), { reason: 'NotSupported', message })
    const empty = await start({ empty: true })
    await t.rejects(empty.push('a.md', hostOf(empty.repository)), {
      reason: 'NotSupported',
      message: /^\S+ has no default branch yet, and the API makes no branch/,
    })
    t.equal(host.asked.length, 0)
  })
}
