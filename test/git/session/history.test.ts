import t from 'tap'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { searchHistory } from '../../../functions/git/session/history.ts'
import type { Session } from '../../../functions/git/session/session.ts'
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
    t.same(await searchHistory(counted, 'main', [{ id, paths: ['none.md', 'a.md'] }]), [sha])
    t.same(calls, ['log', 'diff-tree'])
  })
})
