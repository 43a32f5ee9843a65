import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { startGitServer } from '../harness/git-server.ts'
import { configMap, gitCommit, install, TOKEN } from '../harness/installation.ts'

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)

  t.test('no request follows a redirect to another address', async (t) => {
    const { authority } = commitlet.git
    const elsewhere = await startGitServer({ authority, users: [{ password: TOKEN }] })
    t.teardown(() => elsewhere.close())
    const target = await elsewhere.createRepository('acme/config')
    const team = await commitlet.createTeam()
    await team.apply(configMap())
    for (const [name, exchange] of [
      ['at-the-start', undefined],
      ['in-the-fetch', 'upload-pack'],
      ['in-the-push', 'receive-pack'],
    ] as const) {
      const repository = await commitlet.git.createRepository(`${team.namespace}/${name}`)
      commitlet.git.faults.add(
        { kind: 'redirect', location: target.url, status: 307 },
        { repository: repository.name, ...(exchange === undefined ? {} : { exchange }) },
      )
      await team.apply(gitCommit(name, repository.url))
      await team.waitFor(name, 'condition=Stalled', '30s')
      t.match(
        readyOf(await team.get(name)),
        { status: 'False', message: /redirected to another address/ },
        name,
      )
    }
    t.same(elsewhere.requests, [], 'nobody called there')
  })
})
