import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, install } from '../harness/installation.ts'
import { APP_ID, stage } from './github-app-stage.ts'
import { HEAD, settledPull } from './pull-request-stage.ts'

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)
  const { team, apps, repository, commit, hosted, privateKey, api } = await stage(commitlet)
  const keyFile = join(t.testdir({}), 'private-key.pem')
  writeFileSync(keyFile, privateKey, { mode: 0o600 })
  const host = new URL(commitlet.git.url).host
  await commitlet.function.stop()
  await commitlet.startFunction({
    DEFAULT_GITHUB_APP_ID: APP_ID,
    DEFAULT_GITHUB_APP_KEY_FILE: keyFile,
    DEFAULT_GIT_REPOSITORIES: `${host}/{namespace}`,
  })
  const unnamed = { credentials: undefined }

  t.test('without spec.credentials, the GitHub App of the operator is used for both kinds', async (t) => {
    await team.apply(commit('one', { branch: HEAD, ...unnamed }))
    t.match((await team.settled('one')).status, { phase: 'Succeeded', credentialsUsed: 'Default' })
    t.match(await repository.show(`${HEAD}:shop/settings.yaml`), 'blue')
    await team.apply(hosted.pullRequest('shop', unnamed))
    t.match((await settledPull(team, 'shop')).status, { phase: 'Succeeded', credentialsUsed: 'Default' })
    t.strictSame(
      apps.issued.map(({ permissions }) => permissions),
      [{ contents: 'write' }, { pull_requests: 'write', contents: 'read' }],
    )
    t.strictSame(api.violations, [])
  })

  t.test('where the operator has not allowed it, no host hears of the App', async (t) => {
    const asked = api.seen.length
    const other = await commitlet.createTeam({ secrets: [] })
    await other.apply(configMap(), commit('foreign', { branch: 'main', ...unnamed }))
    t.match(readyOf(await other.settled('foreign')), {
      reason: 'ReferenceForbidden',
      message: /^The operator's default credentials may not be used for \S+ in the namespace /,
    })
    t.strictSame([api.seen.length, apps.issued.length], [asked, 2])
  })

  t.test("a key file that is no key is the operator's to fix, and its repair is enough", async (t) => {
    writeFileSync(keyFile, 'no key')
    await team.apply(commit('two', { branch: 'main', ...unnamed }))
    await team.waitFor('two', 'jsonpath={.status.phase}=Retrying', '30s')
    t.match(readyOf(await team.get('two')), {
      reason: 'CredentialsInvalid',
      message:
        /^The operator's default GitHub App cannot be used: DEFAULT_GITHUB_APP_KEY_FILE .*ask your Commitlet operator/,
    })
    writeFileSync(keyFile, privateKey)
    await team.request('two')
    t.match((await team.settled('two')).status, { phase: 'Succeeded', credentialsUsed: 'Default' })
  })
})
