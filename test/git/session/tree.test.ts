import t from 'tap'
import { fetchBase } from '../../../functions/git/session/fetch.ts'
import { blobName, pathsTo, readTree } from '../../../functions/git/session/tree.ts'
import { openStage } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())

t.test('a blob has the name that git gives it', async (t) => {
  t.equal(blobName(Buffer.from([0, 255, 10])), '506cd141ad4a679eee22d6a21dd267cca5734b92')
})

t.test('a path leads through its directories', async (t) => {
  t.same(pathsTo('a/b/c'), ['a', 'a/b', 'a/b/c'])
})

t.test('what is at the paths and above them is known, however they are called', async (t) => {
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
    const base = await fetchBase(session, 'main')
    const tree = await readTree(session, base?.tip, [
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

t.test('more paths than a command line takes are read in several calls', async (t) => {
  const repository = await stage.server.createRepository('tree/many', { files: { 'z/file.md': 'x' } })
  await stage.session(repository.url, async (session) => {
    const base = await fetchBase(session, 'main')
    const long = Array.from({ length: 700 }, (_, i) => `${'d'.repeat(200)}${i}/${'f'.repeat(200)}`)
    const tree = await readTree(session, base?.tip, [...long, 'z/file.md'])
    t.same([...tree.keys()], ['z', 'z/file.md'])
  })
})

t.test('nothing is in an empty repository', async (t) => {
  const repository = await stage.server.createRepository('tree/none', { empty: true })
  await stage.session(repository.url, async (session) => {
    t.equal((await readTree(session, undefined, ['a'])).size, 0)
  })
})
