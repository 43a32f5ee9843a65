import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit, install } from '../harness/installation.ts'

const FILE = 'colour.txt'

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, { functionEnv: { ATTEMPT_DEADLINE: '8' } })
  const { git } = commitlet

  t.test(
    'older content does not come late, where the GitCommit was at another branch meanwhile',
    async (t) => {
      const team = await commitlet.createTeam()
      const { namespace: name } = team
      const repository = await git.createRepository(name, {
        files: { [FILE]: 'blue\n' },
        branches: ['other'],
      })
      const paint = (branch: string, colour: string): Promise<void> => {
        const files = [{ path: FILE, content: `${colour}\n` }]
        return team.apply(gitCommit('shop', repository.url, { branch, files, resourceRef: undefined }))
      }
      const held = Promise.withResolvers<undefined>()
      const late = Promise.withResolvers<undefined>()
      t.teardown(() => held.resolve(undefined))
      git.faults.add(
        { kind: 'hold', when: 'read', until: held.promise, applied: () => late.resolve(undefined) },
        { repository: name, exchange: 'receive-pack', times: 1 },
      )
      await paint('main', 'red')
      await team.waitFor('shop', 'jsonpath={.status.latePush}=true')
      await paint('other', 'red')
      t.match((await team.settled('shop')).status, { phase: 'Succeeded', commit: { branch: 'other' } })
      await paint('main', 'blue')
      t.match(readyOf(await team.settled('shop')), { status: 'True', reason: 'UpToDate' })
      held.resolve(undefined)
      await late.promise
      t.same(await repository.log('main'), [`Keep ${FILE}`, 'Begin'])
      t.equal(await repository.show(`main:${FILE}`), 'blue\n')
    },
  )
})
