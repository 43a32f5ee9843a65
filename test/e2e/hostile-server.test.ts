import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { startGitServer } from '../harness/git-server.ts'
import { configMap, gitCommit, TOKEN } from '../harness/installation.ts'
import { peakOfTree } from '../harness/process-memory.ts'
import { sized } from '../harness/sample.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { attemptsAt } from './tenant-stage.ts'

/** In a long run as many attempts as one namespace may have in flight. */
const SHARE = sized(2, 8)

withCommitlet(t, async (t, commitlet) => {
  t.test('endless lists of refs for one tenant end, and leave memory and time to the others', async (t) => {
    const [hog, other] = [await commitlet.createTeam(), await commitlet.createTeam()]
    const [endless, honest] = [
      await commitlet.git.createRepository(hog.namespace),
      await commitlet.git.createRepository(other.namespace),
    ]
    // The direct engine meets it in its first request, and hands over to the git binary, which meets it as well.
    commitlet.git.faults.add({ kind: 'endless' }, { repository: endless.name })
    await Promise.all([hog, other].map((team) => team.apply(configMap())))
    const names = Array.from({ length: SHARE }, (_, i) => `endless-${i}`)
    const peak = await peakOfTree(commitlet.function.pid, async () => {
      await Promise.all(names.map((name) => hog.apply(gitCommit(name, endless.url, { branch: name }))))
      await other.apply(gitCommit('own', honest.url))
      t.match(readyOf(await other.settled('own')), { reason: 'Succeeded' })
      for (const name of names) {
        await hog.waitFor(name, 'condition=Stalled', '60s')
        t.match(
          readyOf(await hog.get(name)),
          { reason: 'NotSupported', message: /more refs or objects/ },
          name,
        )
      }
    })
    t.equal(await attemptsAt(commitlet, other), 1)
    t.ok(peak < 600, `${Math.round(peak)} MiB at the peak`)
  })

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
