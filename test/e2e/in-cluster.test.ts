import { readFile } from 'node:fs/promises'
import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import { installPods } from '../harness/pods.ts'

withControlPlane(t, async (t, plane) => {
  const pods = await installPods(t, plane, { SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' })
  if (pods === undefined) return
  const { commitlet, mounted } = pods

  t.test('with what a pod has mounted and nothing else, a GitCommit succeeds', async (t) => {
    for (const { pid } of [commitlet.function, commitlet.webhook])
      t.notMatch(await readFile(`/proc/${pid}/environ`, 'utf8'), 'KUBECONFIG')
    const team = await commitlet.createTeam({ developers: ['dev'] })
    const repository = await commitlet.git.createRepository(team.namespace)
    const kubeconfig = await plane.kubeconfigFor({ name: 'dev' })
    await team.apply(configMap())
    const input = JSON.stringify(gitCommit('shop', repository.url))
    await team.kubectl(['apply', '-f', '-'], { input, kubeconfig })
    t.match((await team.settled('shop')).status, { phase: 'Succeeded' })
    t.match(await repository.git('log', '-1', '--format=%B', 'main'), /^Requested-by: dev$/m)
  })

  t.test('a token that is replaced while they run is used, once the old one is refused', async (t) => {
    const team = await commitlet.createTeam({ developers: ['dev'] })
    const repository = await commitlet.git.createRepository(team.namespace)
    const kubeconfig = await plane.kubeconfigFor({ name: 'dev' })
    await team.apply(configMap())
    for (const account of Object.values(mounted)) {
      await account.renew()
      await account.invalidate('before')
    }
    const input = JSON.stringify(gitCommit('shop', repository.url))
    await team.kubectl(['apply', '-f', '-'], { input, kubeconfig })
    const { status } = await team.settled('shop')
    t.match(status, { phase: 'Succeeded', attempts: 1 })
  })
})
