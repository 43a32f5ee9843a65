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
  const repository = await stage.server.createRepository('branches/again')
  await fillBranches(repository)
  const told: string[] = []
  const writer = stage.open({ handedOver: ({ why }) => void told.push(why) })
  // What has pushed with another login is read: two MiB beyond what a list usually has, were it all.
  for (let i = 0; i < 14; i += 1) {
    const login = loginOf(i % 2 === 0 ? PASSWORD : 'other')
    const landed = await writer.push(changeOf(repository.url, `${i}.md`), login, patience())
    t.match(landed, { outcome: 'pushed', branch: 'main' })
  }
  t.same(told, [])
  // Where HEAD points elsewhere meanwhile, the branch is found among the others.
  await repository.git('branch', 'next', 'main')
  await repository.git('symbolic-ref', 'HEAD', 'refs/heads/next')
  for (const password of [PASSWORD, 'other'])
    t.match(await writer.push(changeOf(repository.url, `${password}.md`), loginOf(password), patience()), {
      outcome: 'pushed',
      branch: 'main',
    })
  t.equal((await repository.log('main')).length, 17)
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
