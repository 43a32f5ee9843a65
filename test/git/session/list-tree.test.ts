import t from 'tap'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { listTree } from '../../../functions/git/session/list-tree.ts'
import { blobName } from '../../../functions/git/tree.ts'
import type { Session } from '../../../functions/git/session/session.ts'
import { openStage } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())

async function tipOf(session: Session): Promise<string | undefined> {
  const tip = await fetchTip(session, { branch: 'main' })
  return tip === 'moved' ? undefined : tip.commit
}

t.test('what is at the paths and above them is listed, whatever their names', async (t) => {
  const files = {
    'dir/file.md': 'x',
    'dir/run.sh': { mode: '100755', content: 'x' },
    link: { mode: '120000', content: 'dir' },
    module: { mode: '160000', content: '1'.repeat(40) },
    '-x/*.md': 'star',
    '-x/a.md': 'a',
    ':(top)ü "q"': 'odd',
  }
  const repository = await stage.server.createRepository('tree/all', { files })
  await stage.session(repository.url, async (session) => {
    const commit = await tipOf(session)
    const tree = await listTree(session, commit, [
      'dir/file.md/below',
      'dir/run.sh',
      'dir',
      'link/a',
      'module/b',
      '-x/*.md',
      ':(top)ü "q"',
      'none/at/all',
    ])
    const modes = Object.fromEntries([...tree].map(([path, { mode }]) => [path, mode]))
    t.same(modes, {
      dir: '040000',
      'dir/file.md': '100644',
      'dir/run.sh': '100755',
      link: '120000',
      module: '160000',
      '-x': '040000',
      '-x/*.md': '100644',
      ':(top)ü "q"': '100644',
    })
    t.equal(tree.get('dir/file.md')?.oid, blobName(Buffer.from('x')))
  })
})

t.test('more paths than fit a command line are read in several calls', async (t) => {
  const repository = await stage.server.createRepository('tree/many', { files: { 'z/file.md': 'x' } })
  await stage.session(repository.url, async (session) => {
    const commit = await tipOf(session)
    const long = Array.from({ length: 700 }, (_, i) => `${'d'.repeat(200)}${i}/${'f'.repeat(200)}`)
    const tree = await listTree(session, commit, [...long, 'z/file.md'])
    t.same([...tree.keys()], ['z', 'z/file.md'])
  })
})

t.test('an empty repository has nothing', async (t) => {
  const repository = await stage.server.createRepository('tree/none', { empty: true })
  await stage.session(repository.url, async (session) => {
    t.equal((await listTree(session, undefined, ['a'])).size, 0)
  })
})
