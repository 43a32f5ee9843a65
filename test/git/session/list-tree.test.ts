import t from 'tap'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { listTree } from '../../../functions/git/session/list-tree.ts'
import type { Session } from '../../../functions/git/session/session.ts'
import { ROOT } from '../../../functions/git/tree.ts'
import { countTurns } from '../direct/turns.ts'
import { openStage } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())

async function tipOf(session: Session): Promise<string | undefined> {
  const tip = await fetchTip(session, { branch: 'main' })
  return tip === 'moved' ? undefined : tip.commit
}

t.test('more paths than fit a command line are read in several calls', async (t) => {
  const repository = await stage.server.createRepository('tree/many', { files: { 'z/file.md': 'x' } })
  await stage.session(repository.url, async (session) => {
    const commit = await tipOf(session)
    const long = Array.from({ length: 700 }, (_, i) => `${'d'.repeat(200)}${i}/${'f'.repeat(200)}`)
    const tree = await listTree(session, commit, [...long, 'z/file.md'])
    t.same([...tree.keys()].sort(), [ROOT, 'z', 'z/file.md'])
  })
})

t.test('the directories of many deep paths are listed in turns of the event loop', async (t) => {
  const way = Array.from({ length: 63 }, (_, i) => `${'d'.repeat(60)}${i}`).join('/')
  const paths = Array.from({ length: 2_000 }, (_, i) => `${way}/${i}`)
  await stage.session('https://git.example.com/acme/shop.git', async (session) => {
    const empty: Session = { ...session, offline: () => Promise.resolve('') }
    const { result, turns } = await countTurns(() => listTree(empty, '1'.repeat(40), paths))
    t.same([...result.keys()], [ROOT])
    t.ok(turns > 100, `${turns} turns`)
  })
})
