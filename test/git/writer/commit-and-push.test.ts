import t from 'tap'
import type { Landed } from '../../../functions/domain/commit/change.ts'
import type { Failure } from '../../../functions/domain/failure.ts'
import { fetchBase } from '../../../functions/git/session/fetch.ts'
import { commitAndPush } from '../../../functions/git/writer/commit-and-push.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { changeOf, openStage } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

/** One round on the branch `next`; `meanwhile` happens between the fetch and the push. */
async function round(
  repository: GitRepository,
  texts: Readonly<Record<string, string>>,
  meanwhile?: () => Promise<unknown>,
) {
  const results: (Landed | Failure)[] = []
  const entries = Object.entries(texts).map(([path, text]) => ({
    change: changeOf(repository.url, path, { branch: 'next', text }),
    date: new Date(),
    signal: new AbortController().signal,
    settle: (result: Landed | Failure) => void results.push(result),
  }))
  const left = new Set(entries)
  const pushed = await stage.session(repository.url, async (session) => {
    const base = await fetchBase(session, 'next')
    if (base === undefined) throw new Error('Nobody else is at work here')
    await meanwhile?.()
    return commitAndPush(session, base, left)
  })
  const tip = await repository.git('for-each-ref', '--format=%(objectname)', 'refs/heads/next')
  return { pushed, results, tip, left: left.size }
}

t.test('a new branch is made where the default branch holds the content, without a commit', async (t) => {
  const repository = await server.createRepository('round/same', { files: { 'a.md': 'a', 'b.md': 'b' } })
  const sha = await repository.git('rev-parse', 'main')
  const unchanged = { outcome: 'unchanged', sha, branch: 'next' }
  t.same(await round(repository, { 'a.md': 'a', 'b.md': 'b' }), {
    pushed: { kind: 'landed' },
    results: [unchanged, unchanged],
    tip: sha,
    left: 0,
  })
})

t.test('a branch that another has made meanwhile is not taken for the new one', async (t) => {
  const repository = await server.createRepository('round/taken', { files: { 'a.md': 'a' } })
  const meanwhile = () => repository.commit('next', { 'a.md': 'other' })
  t.match(await round(repository, { 'a.md': 'a' }, meanwhile), { pushed: { kind: 'race' }, left: 1 })
})

t.test('where the default branch has moved on meanwhile, the next round makes the branch', async (t) => {
  const repository = await server.createRepository('round/moved', { files: { 'a.md': 'a' } })
  const meanwhile = () => repository.commit('main', { 'b.md': 'b' })
  t.match(await round(repository, { 'a.md': 'a' }, meanwhile), { pushed: { kind: 'race' }, left: 1, tip: '' })
  const sha = await repository.git('rev-parse', 'main')
  t.match(await round(repository, { 'a.md': 'a' }), { pushed: { kind: 'landed' }, tip: sha })
})

t.test('a branch that may not be made is a refusal', async (t) => {
  const hooks = { 'pre-receive': 'echo "no such names" >&2; exit 1' }
  const repository = await server.createRepository('round/refused', { files: { 'a.md': 'a' }, hooks })
  t.match(await round(repository, { 'a.md': 'a' }), {
    pushed: { kind: 'refused', failure: { reason: 'PushRejected', message: /no such names/ } },
    left: 1,
    tip: '',
  })
})

t.test('no branch is made for changes that all fail', async (t) => {
  const repository = await server.createRepository('round/none', { files: { 'a.md': 'a' } })
  t.match(await round(repository, { 'a.md/b.md': 'a' }), {
    pushed: undefined,
    results: [{ reason: 'PathConflict' }],
    tip: '',
    left: 0,
  })
})
