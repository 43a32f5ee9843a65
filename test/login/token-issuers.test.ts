import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { readApp } from '../../functions/domain/credentials/app.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { HOSTS } from '../../functions/domain/repository/hosts.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import { ISSUERS, openIssuers } from '../../functions/login/token-issuers.ts'
import { github } from '../harness/hosts/github.ts'
import { memoryApps, publicHalf } from '../harness/hosts/github-app.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { recordingMeter } from '../harness/recording-meter.ts'
import { settingsWith } from '../providers/port-stage.ts'

const { signal } = new AbortController()

function appOf(privateKey: string) {
  const app = readApp({ id: '4711', installation: undefined, privateKey: Buffer.from(privateKey) })
  if (!('id' in app)) throw new Error(app.join(' '))
  const places = { id: 'a', installation: 'b', privateKey: 'c' }
  return { ...app, source: [], places, shown: 'The App', secrets: [] }
}

t.test('every host with Apps has an issuer, and no other', async (t) => {
  const withApps = HOSTS.filter(({ hasApps }) => hasApps === true).map(({ name }) => name)
  t.same(Object.keys(ISSUERS), withApps)
  for (const name of withApps) t.type((await ISSUERS[name]?.())?.askForToken, 'function', name)
})

t.test('a token comes from the API of the repository, and its calls are measured', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const apps = memoryApps()
  apps.keys.set('4711', publicHalf(pem))
  const permissions = { contents: 'write' } as const
  const repositories = ['shop']
  apps.installations.push({
    id: 81,
    appID: '4711',
    account: 'acme',
    repositories,
    permissions,
    suspended: false,
  })
  const host = await startHost(t, github, { ...memoryModel(), apps })
  const { meter, recorded } = recordingMeter()
  const issue = openIssuers(settingsWith(host.caFile), () => new Date(), meter)
  const address = parseRepositoryAddress(`${host.origin}/acme/shop.git`)
  const hints = { provider: 'github', baseURL: host.baseURL }
  const request = { app: appOf(pem), kind: 'GitCommit', namespace: 'team', signal } as const
  t.match(await issue({ ...request, target: targetOf('GitCommit', address, hints) }), { installation: '81' })
  const calls = recorded.filter(([, { method }]) => method !== undefined)
  t.match(calls, [
    [/^provider_request/, { provider: 'github', method: 'GET' }],
    [/^provider_request/, { provider: 'github', method: 'POST' }],
  ])

  const elsewhere = targetOf('GitCommit', parseRepositoryAddress('https://gitlab.com/acme/shop'))
  await t.rejects(issue({ ...request, target: elsewhere }), {
    name: 'Failure',
    reason: 'NotSupported',
    message: /^The App cannot log in to a host of the provider gitlab; name a Secret with a token/,
  })
  const unknown = targetOf('GitCommit', address)
  await t.rejects(issue({ ...request, target: unknown }), { name: 'Failure', reason: 'InvalidSpec' })
})
