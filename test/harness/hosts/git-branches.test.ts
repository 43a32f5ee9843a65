import t from 'tap'
import { createRepository } from '../git-repository.ts'
import { gitBranches } from './git-branches.ts'

t.test(
  'the branches of a bare repository are there with their commits, and those of forks are not',
  async (t) => {
    const repository = await createRepository(
      { root: t.testdir({}), url: 'https://localhost' },
      'acme/shop',
      {
        branches: ['settings', 'release/1'],
      },
    )
    await repository.commit('settings', { 'a.yaml': 'a\n' })
    await repository.commit('settings', { 'b.yaml': 'b\n' })
    const branches = gitBranches(repository)
    const table = [
      ['main', undefined, true],
      ['release/1', undefined, true],
      ['release', undefined, false],
      ['nothing', undefined, false],
      ['main', 'dev', false],
    ] as const
    for (const [branch, owner, there] of table) t.equal(await branches.has(branch, owner), there, branch)
    t.equal(await branches.ahead('main', 'settings'), 2)
    t.equal(await branches.ahead('settings', 'main'), 0)
    t.equal(await branches.ahead('main', 'nothing'), 0)
    t.equal(await branches.ahead('main', 'settings', 'dev'), 0)
  },
)
