import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { endToken, memoryApps, publicHalf } from '../harness/hosts/github-app.ts'
import type { ModelInstallation } from '../harness/hosts/github-app.ts'
import { github } from '../harness/hosts/github.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import type { Installation } from '../harness/installation.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { HEAD, hostRepository, settledPull } from './pull-request-stage.ts'

const credentials = { secretName: 'app', appIDKey: 'app-id', privateKeyKey: 'private-key' }
const APP_ID = '4711'

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

function secretOf(stringData: Readonly<Record<string, string>>, annotations = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'app', annotations },
    stringData,
  }
}

/** A team whose Secret `app` holds an App that is installed at its repository, on a host of its own. */
async function stage(commitlet: Installation) {
  const team = await commitlet.createTeam({ secrets: ['git', 'app'] })
  const apps = memoryApps()
  const generated = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const privateKey = generated.export({ type: 'pkcs1', format: 'pem' }).toString()
  apps.keys.set(APP_ID, publicHalf(privateKey))
  const installation: ModelInstallation = {
    ...{ id: 81, appID: APP_ID, account: 'acme', repositories: ['shop'], suspended: false },
    permissions: { contents: 'write', pull_requests: 'write' },
  }
  apps.installations.push(installation)
  const prefix = `/${team.namespace}`
  const hosted = await hostRepository(commitlet.git, { dialect: github, path: 'acme/shop', prefix }, { apps })
  const { repository, model, api } = hosted
  const place = { provider: 'github', providerConfig: { baseURL: `${commitlet.git.url}${prefix}/api/v3` } }
  await team.apply(configMap(), secretOf({ 'app-id': APP_ID, 'private-key': privateKey }))
  const commit = (name: string, spec = {}): object =>
    gitCommit(name, repository.url, { branch: 'main', credentials, ...place, ...spec })
  return { team, apps, installation, privateKey, hosted, repository, model, api, commit }
}
