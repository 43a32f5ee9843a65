import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Ran } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { applyAs, grant, RULES } from '../harness/rights.ts'
import { waitFor } from '../harness/wait.ts'

withControlPlane(t, async (t, plane) => {
  const controller = 'system:serviceaccount:gitops:applier'
  const env = { DELEGATED_APPLIERS: `${controller}, other` }
  const commitlet = await install(t, plane, { functionEnv: env, webhookEnv: env })
  await plane.kubectl([
    'create',
    'clusterrolebinding',
    'gitops',
    '--clusterrole=cluster-admin',
    `--user=${controller}`,
  ])

  t.test('a GitOps controller is reviewed as the account of the namespace', async (t) => {
    const team = await commitlet.createTeam()
    const account = `system:serviceaccount:${team.namespace}:commitlet`
    const repository = await commitlet.git.createRepository(team.namespace)
    const apply = (): Promise<Ran> => applyAs(team, controller, gitCommit('shop', repository.url))
    await team.apply(configMap())
    t.match((await apply()).stderr, `which ${account} may not \`get\``)
    t.match((await apply()).stderr, `is not one that ${account} may \`get\``)
    await team.apply(...grant('commitlet', account, [RULES.readConfigMaps, RULES.readSecrets]))
    await waitFor('admission', async () => ((await apply()).code === 0 ? true : undefined), 30_000)
    t.match(readyOf(await team.settled('shop')), { reason: 'Succeeded' })
    const log = await repository.git('log', '-1', '--format=%B', 'main')
    t.match(log, `\nRequested-by: ${controller} as ${account}\n`)
  })

  t.test('a repository that the operator does not allow is refused before any look-up', async (t) => {
    const { host } = new URL(commitlet.git.url)
    const ALLOWED_REPOSITORIES = `git.example.com, ${host}/acme`
    await Promise.all([commitlet.webhook.stop(), commitlet.function.stop()])
    const webhook = await commitlet.startWebhook({ ALLOWED_REPOSITORIES })
    await commitlet.startFunction({ ALLOWED_REPOSITORIES })
    const team = await commitlet.createTeam()
    const object = gitCommit('shop', 'https://nowhere.invalid/acme/config.git')
    const input = JSON.stringify(object)
    const { stderr } = await team.kubectl(['apply', '-f', '-'], { input, allowFailure: true })
    const sentence =
      'spec.repository is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); name another, or ask your Commitlet operator.'
    t.match(stderr, /^Error from server \(Forbidden\)/)
    t.ok(stderr.includes(sentence), stderr)
    const { stderr: sibling } = await team.kubectl(['apply', '-f', '-'], {
      input: JSON.stringify(gitCommit('shop', `https://${host}/acme-evil/config.git`)),
      allowFailure: true,
    })
    t.ok(sibling.includes(sentence), sibling)
    await webhook.stop()
    await commitlet.startWebhook({ ALLOWED_REPOSITORIES: '' })
    await team.apply(object)
    t.match(readyOf(await team.settled('shop')), { reason: 'AddressForbidden', message: sentence })
    const repository = await commitlet.git.createRepository('acme/config')
    await team.apply(configMap(), gitCommit('allowed', repository.url))
    t.match(readyOf(await team.settled('allowed')), { reason: 'Succeeded' })
  })
})
