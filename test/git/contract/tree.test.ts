import t from 'tap'
import { blobName, ROOT } from '../../../functions/git/tree.ts'
import { engineTest } from './engine-test.ts'
import { WAYS, openStage } from '../stage.ts'

// What a tip holds, by both engines and through the API.
const stage = await openStage()
t.teardown(() => stage.close())

const files = {
  'dir/file.md': 'x',
  'dir/run.sh': { mode: '100755', content: 'x' },
  link: { mode: '120000', content: 'dir' },
  module: { mode: '160000', content: '1'.repeat(40) },
  '-x/*.md': 'star',
  '-x/a.md': 'a',
  ':(top)ü "q"': 'odd',
  'z/file.md': 'x',
}
const repository = await stage.server.createRepository('tree/all', { files })
const empty = await stage.server.createRepository('tree/none', { empty: true })

for (const engine of WAYS) {
  const test = engineTest(t, engine, { 'an empty repository has nothing': 'the API makes no branch' })
  const read = (url: string, paths: readonly string[]) =>
    stage.remote(engine, url, async (remote) => {
      const tip = await remote.readTip({ branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      return remote.readTree(tip, paths)
    })

  test('what is at the paths and above them is listed, whatever their names', async (t) => {
    const tree = await read(repository.url, [
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
      [ROOT]: '040000',
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

  test('directories to which a name would be added have their sizes, also one beside a file', async (t) => {
    const tree = await read(repository.url, ['dir/file.md', 'dir/file.md/below', 'dir/new', 'new'])
    const sizes = [ROOT, 'dir'].map((path) => tree.get(path)?.bytes)
    const objects = ['main^{tree}', 'main:dir'].map(async (name) =>
      Number(await repository.git('cat-file', '-s', name)),
    )
    t.same(sizes, await Promise.all(objects))
    t.equal(tree.get('dir/file.md')?.bytes, undefined)
  })

  test('an empty repository has nothing', async (t) => {
    t.equal((await read(empty.url, ['a'])).size, 0)
  })
}
