import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { endToken, publicHalf } from '../harness/hosts/github-app.ts'
import { configMap } from '../harness/installation.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { APP_ID, credentials, secretOf, stage } from './github-app-stage.ts'
import { HEAD, settledPull } from './pull-request-stage.ts'

await withCommitlet(t, (t, commitlet) => {
  t.test('a GitHub App commits and opens a pull request, with one token for each', async (t) => {
    const { team, apps, api, repository, commit, hosted, privateKey } = await stage(commitlet)
    await team.apply(commit('one', { branch: HEAD }))
    t.match((await team.settled('one')).status, { phase: 'Succeeded', credentialsUsed: 'Primary' })
    await team.apply(configMap({ colour: 'red' }), commit('two', { branch: HEAD }))
    t.match((await team.settled('two')).status, { phase: 'Succeeded' })
    t.match(await repository.show(`${HEAD}:shop/settings.yaml`), 'red')
    await team.apply(hosted.pullRequest('shop', { credentials, labels: ['urgent'] }))
    t.match((await settledPull(team, 'shop')).status, { phase: 'Succeeded', pullRequest: { number: 1 } })
    t.strictSame(
      apps.issued.map(({ permissions }) => permissions),
      [{ contents: 'write' }, { pull_requests: 'write', contents: 'read' }],
    )
    t.strictSame(api.violations, [])
    const { stdout } = await team.kubectl(['get', 'gitcommits,pullrequests,events', '-o', 'yaml'])
    const said = stdout + commitlet.function.lines.join('\n')
    const [, body = ''] = privateKey.split('\n')
    for (const secret of [body, ...apps.issued.map(({ token }) => token)]) t.notOk(said.includes(secret))
  })

  t.test('a token that ends while it is kept is asked for once more', async (t) => {
    const { team, apps, commit, model } = await stage(commitlet)
    await team.apply(commit('one'))
    t.match((await team.settled('one')).status, { phase: 'Succeeded' })
    for (const issued of apps.issued) endToken(model, issued)
    await team.apply(configMap({ colour: 'red' }), commit('two'))
    t.match((await team.settled('two')).status, { phase: 'Succeeded', attempts: 1 })
    t.equal(apps.issued.length, 2)
  })

  t.test('what an App lacks is a sentence, and its fix is enough', async (t) => {
    const { team, apps, installation, commit } = await stage(commitlet)
    const [name = ''] = installation.repositories.splice(0)
    await team.apply(commit('one'))
    await team.waitFor('one', 'jsonpath={.status.phase}=Retrying', '30s')
    t.match(readyOf(await team.get('one')), {
      reason: 'RepositoryNotFound',
      message: /^The GitHub App of the Secret \S+\/app is not installed for https:/,
    })
    installation.repositories.push(name)
    await team.request('one')
    t.match((await team.settled('one')).status, { phase: 'Succeeded' })
    t.equal(apps.issued.length, 1)
  })

  t.test(
    "another team's installation is refused by its number, and a repository outside the binding",
    async (t) => {
      const victim = await stage(commitlet)
      const { team, apps, privateKey } = victim
      const evil = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
      const stolen = evil.export({ type: 'pkcs1', format: 'pem' }).toString()
      apps.keys.set('666', publicHalf(stolen))
      await team.apply(
        secretOf({
          'app-id': '666',
          'installation-id': String(victim.installation.id),
          'private-key': stolen,
        }),
        victim.commit('one', { credentials: { ...credentials, installationIDKey: 'installation-id' } }),
      )
      await team.waitFor('one', 'jsonpath={.status.phase}=Retrying', '30s')
      t.match(readyOf(await team.get('one')), {
        message: /has no installation with the number that it names/,
      })
      const asked = victim.api.seen.length
      const bound = { 'commitlet.dev/allowed-repositories': 'github.com/acme' }
      await team.apply(secretOf({ 'app-id': APP_ID, 'private-key': privateKey }, bound), victim.commit('two'))
      t.match(readyOf(await team.settled('two')), { reason: 'ReferenceForbidden' })
      t.strictSame([apps.issued, victim.api.seen.length], [[], asked])
    },
  )
})
