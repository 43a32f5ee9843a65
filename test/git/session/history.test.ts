import t from 'tap'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { searchHistory } from '../../../functions/git/session/history.ts'
import type { Session } from '../../../functions/git/session/session.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { openStage } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())

t.test('many commits that have the id of a change are compared by one process', async (t) => {
  const id = 'f3b0e6c2-0000-4000-8000-000000000001.3'
  const message = `Write it\n\nCommitlet-Resource: shop/config\nCommitlet-Id: ${id}\n`
  const repository = await stage.server.createRepository('history/claimed')
  const sha = await repository.commit('main', { 'a.md': '1' }, message)
  for (const content of '12345') await repository.commit('main', { 'b.md': content }, message)
  await stage.session(repository.url, async (session) => {
    const calls: string[] = []
    const counted: Session = {
      ...session,
      offline(args, input) {
        calls.push(args[0] ?? '')
        return session.offline(args, input)
      },
    }
    await fetchTip(session, { branch: 'main', since: new Date(Date.now() - 3_600_000) })
    t.same(
      await searchHistory(counted, {
        ref: 'refs/heads/main',
        sought: [{ id, paths: ['none.md', 'a.md'] }],
        since: undefined,
      }),
      [sha],
    )
    t.same(calls, ['log', 'diff-tree'])
  })
})

/** What the longest turn of the event loop takes of the processor while this is done, in milliseconds. */
async function longestTurnOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly longest: number }> {
  let [longest, before, isOver] = [0, cpuTime(), false]
  function look(): void {
    longest = Math.max(longest, cpuTime() - before)
    before = cpuTime()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const result = await work().finally(() => (isOver = true))
  return { result, longest }
}

t.test('hundreds of changes are searched for among many commits in turns', async (t) => {
  const trailer = 'Commitlet-Id: f3b0e6c2-0000-4000-8000-000000000001.3'
  const commits = Array.from({ length: 40_000 }, (_, i) => String(i).padStart(40, '0'))
  const listing = commits.map((sha) => `${sha}\0${trailer}\n`).join('')
  await stage.session('https://git.example.com/acme/shop.git', async (session) => {
    const many = { ...session, offline: () => Promise.resolve(listing) }
    const sought = Array.from({ length: 500 }, (_, i) => ({ id: `${i}.1`, paths: ['a.md'] }))
    const { result, longest } = await longestTurnOf(() =>
      searchHistory(many, { ref: 'refs/heads/main', sought, since: undefined }),
    )
    t.equal(result.filter((name) => name !== undefined).length, 0)
    t.ok(longest < allowedMs(15), `${longest} ms`)
  })
})

t.test('a commit counts by any of its ids and seals, however many it has', async (t) => {
  const trailers = Array.from(
    { length: 100 },
    (_, i) => `Commitlet-Id: ${i}.1\nCommitlet-Seal: seal${i}`,
  ).join('\n')
  const repository = await stage.server.createRepository('history/joined')
  const sha = await repository.commit('main', { 'a.md': '1' }, `Join\n\n${trailers}\n`)
  await stage.session(repository.url, async (session) => {
    await fetchTip(session, { branch: 'main', since: new Date(Date.now() - 3_600_000) })
    const sought = ['seal0', 'seal1', 'other'].map((seal) => ({ id: '0.1', seals: [seal], paths: ['a.md'] }))
    for (const [i, one] of sought.entries())
      t.same(await searchHistory(session, { ref: 'refs/heads/main', sought: [one], since: undefined }), [
        i < 2 ? sha : undefined,
      ])
    t.same(
      await searchHistory(session, { ref: 'refs/heads/main', sought, since: undefined }),
      [sha, sha, undefined],
      'also of one id, at once',
    )
  })
})

t.test('a commit that has copied the trailers of another one is not taken for that', async (t) => {
  const repository = await stage.server.createRepository('history/copied')
  const message = 'Write\n\nCommitlet-Id: 7.1\nCommitlet-Seal: seal\n'
  const own = await repository.commit('main', { 'a.md': '1' }, message)
  await repository.commit('main', { 'a.md': '2' }, message)
  await stage.session(repository.url, async (session) => {
    await fetchTip(session, { branch: 'main', since: new Date(Date.now() - 3_600_000) })
    const sought = [{ id: '7.1', seals: ['seal'], paths: ['a.md'] }]
    t.same(await searchHistory(session, { ref: 'refs/heads/main', sought, since: undefined }), [own])
  })
})
