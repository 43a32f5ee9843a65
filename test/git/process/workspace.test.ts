import { mkdtemp, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { NO_AUTHORITIES } from '../../../functions/git/process/bundle.ts'
import { openWorkspace } from '../../../functions/git/process/workspace.ts'
import { inWorkspace } from '../stage.ts'

const tempDir = await mkdtemp(join(tmpdir(), 'commitlet-workspace-'))
t.teardown(() =>
  import('node:fs/promises').then(({ rm }) => rm(tempDir, { recursive: true, force: true, maxRetries: 5 })),
)

t.test('a workspace is readable by one user only and is removed', async (t) => {
  const { folder, remove } = await openWorkspace(tempDir)
  t.equal((await stat(folder)).mode & 0o777, 0o700)
  t.same(await readdir(tempDir), [folder.slice(tempDir.length + 1)])
  await remove()
  t.same(await readdir(tempDir), [])
})

t.test('the folder of authorities that git reads besides its bundle is empty', async (t) => {
  await inWorkspace(tempDir, async ({ folder }) => {
    t.same(await readdir(join(folder, NO_AUTHORITIES)), [])
  })
})

t.test('the configuration is restored after git has written to it', async (t) => {
  await inWorkspace(tempDir, async (workspace) => {
    const before = await workspace.readLines('config')
    await writeFile(
      join(workspace.folder, 'config'),
      '[remote "https://git.example.com/a.git"]\n\tpromisor = true\n',
    )
    await workspace.cleanConfig()
    t.same(await workspace.readLines('config'), before)
  })
})

t.test('packs are counted, finished or not, with what git writes beside them', async (t) => {
  await inWorkspace(tempDir, async (workspace) => {
    t.equal(await workspace.fetchedBytes(), 0)
    const packs = join(workspace.folder, 'objects', 'pack')
    for (const name of [
      'pack-1.pack',
      'pack-1.idx',
      'pack-1.rev',
      'pack-1.promisor',
      'tmp_pack_x',
      'tmp_idx_x',
    ])
      await writeFile(join(packs, name), 'x'.repeat(1000))
    await writeFile(join(workspace.folder, 'shallow'), 'x'.repeat(1000))
    t.equal(await workspace.fetchedBytes(), 7000)
  })
})

t.test('a trace begins again, and its lines are read wherever it begins', async (t) => {
  await inWorkspace(tempDir, async (workspace) => {
    t.same(await workspace.readTrace(), [])
    for (const [limit, start] of [
      [1024 * 1024, 768 * 1024],
      [1024, 0],
    ] as const) {
      const file = await workspace.startTrace(limit)
      t.match(await stat(file), { size: start, blocks: 0 })
      await writeFile(file, 'one\ntwo\n', { flag: 'a' })
      t.same(await workspace.readTrace(), ['one', 'two'])
    }
  })
})

t.test('missing refs and files are not a failure, other errors are', async (t) => {
  await inWorkspace(tempDir, async (workspace) => {
    t.equal(await workspace.readRef('none'), undefined)
    t.same(await workspace.readLines('none'), [])
    await t.rejects(workspace.readLines('objects'), { code: 'EISDIR' })
  })
})

t.test('only the beginning of a long file is read', async (t) => {
  await inWorkspace(tempDir, async (workspace) => {
    await writeFile(join(workspace.folder, 'long'), '123456789\n'.repeat(100_000))
    t.equal((await workspace.readLines('long')).length, 26_215)
  })
})

t.test(
  'where Git would leave its hook out, no workspace is opened',
  {
    skip: process.getuid?.() === 0 ? false : 'without rights of its own it could not enter the folder either',
  },
  async (t) => {
    // Every file is as on a filesystem that is mounted without the right to run programs.
    const before = process.umask(0o177)
    const opening = openWorkspace(tempDir).catch((error: unknown) => error)
    t.match(await opening.finally(() => process.umask(before)), { reason: 'Internal', message: /noexec/ })
    t.same(await readdir(tempDir), [])
  },
)
