import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { GitRepository } from '../../harness/git-repository.ts'
import { withSSHServer } from '../../harness/ssh-server.ts'
import { keyLogin, openSSHStage, sshChange } from '../ssh/stage.ts'
import { changeOf, loginOf, openStage, PASSWORD, patience } from '../stage.ts'

/** Six MiB of a list: names may have 255 characters, which are three times as many bytes. */
const MANY = 7_500

/** Branches whose names begin as that of the default branch. */
async function fillBranches({ path, ...repository }: GitRepository): Promise<void> {
  const tip = await repository.git('rev-parse', 'main')
  const names = Array.from(
    { length: MANY },
    (_, i) => `main${'한'.repeat(200)}/${'한'.repeat(40)}${10_000 + i}`,
  )
  const lines = names.map((name) => `${tip} refs/heads/${name}\n`).sort()
  await writeFile(
    join(path, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`,
  )
}

t.test('a branch is written to beside thousands whose names begin as its own, over HTTPS', async (t) => {
  const stage = await openStage()
  t.teardown(() => stage.close())
  const repository = await stage.server.createRepository('branches/many')
  await fillBranches(repository)
  const told: string[] = []
  const writer = stage.open({ handedOver: ({ why }) => void told.push(why) })
  for (const [path, branch] of [
    ['a.md', 'main'],
    ['b.md', 'main한'],
    ['c.md', undefined],
  ] as const) {
    const landed = await writer.push(
      changeOf(repository.url, path, { branch }),
      loginOf(PASSWORD),
      patience(),
    )
    t.match(landed, { outcome: 'pushed', branch: branch ?? 'main' })
  }
  t.same(told, [])
  t.equal(await repository.git('show', 'main한:b.md'), 'content of b.md')
})

t.test('whoever lists the default branch again reads none of the others', async (t) => {
  const stage = await openStage({ users: [{ password: PASSWORD }, { password: 'other' }] })
  t.teardown(() => stage.close())
  const { requests, ...server } = stage.server
  const repository = await server.createRepository('branches/again')
  await fillBranches(repository)
  const writer = stage.open()
  async function push(path: string, password: string): Promise<void> {
    const landed = await writer.push(changeOf(repository.url, path), loginOf(password), patience())
    t.match(landed, { outcome: 'pushed', branch: 'main' })
  }
  // What has been pushed with another login is read.
  for (const path of ['a.md', 'b.md', 'c.md']) {
    await push(path, PASSWORD)
    await push(path.toUpperCase(), 'other')
  }
  const lists = requests.filter(({ command }) => command === 'ls-refs').map(({ sent }) => sent)
  t.equal(lists.length, 6)
  t.same(
    lists.map((bytes) => bytes > 5 * 1024 * 1024),
    [true, true, false, false, false, false],
  )
  // Where HEAD points elsewhere meanwhile, the branch is found among the others.
  await repository.git('branch', 'next', 'main')
  await repository.git('symbolic-ref', 'HEAD', 'refs/heads/next')
  await push('d.md', PASSWORD)
  await push('D.md', 'other')
  t.equal((await repository.log('main')).length, 9)
})

await withSSHServer(t, async (t, server) => {
  await t.test('and over SSH, where the list of a push has all branches', async (t) => {
    const stage = await openSSHStage('direct')
    t.teardown(() => stage.close())
    const repository = await server.createRepository('branches/ssh')
    await fillBranches(repository)
    const told: string[] = []
    const writer = stage.open({ handedOver: ({ why }) => void told.push(why) })
    const login = keyLogin(server.writer, server.knownHosts)
    for (const path of ['a.md', 'b.md'])
      t.match(await writer.push(sshChange(repository.url, path), login, patience()), { outcome: 'pushed' })
    t.same(told, [])
  })
})
