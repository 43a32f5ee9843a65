import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import { readApp } from '../../functions/domain/credentials/app.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import { HOSTS } from '../../functions/domain/repository/hosts.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import { makeRequestShares } from '../../functions/login/limits/request-shares.ts'
import { ISSUERS, openIssuers, type IssuerParts } from '../../functions/login/token-issuers.ts'
import { github } from '../harness/hosts/github.ts'
import { memoryApps, publicHalf } from '../harness/hosts/github-app.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { recordingMeter } from '../harness/recording-meter.ts'
import { CA_FILE } from '../http/stage.ts'
import { settingsWith } from '../providers/port-stage.ts'

const { signal } = new AbortController()
const PARTS: IssuerParts = { now: () => new Date(), meter: NO_METER, shares: makeRequestShares(() => 0) }

function appOf(privateKey: string) {
  const app = readApp({ id: '4711', installation: undefined, privateKey: Buffer.from(privateKey) })
  if (!('id' in app)) throw new Error(app.join(' '))
  const places = { id: 'a', installation: 'b', privateKey: 'c' }
  return { ...app, source: [], places, shown: 'The App', secrets: [] }
}

/** A host at which the App with this key is installed for a repository. */
async function hostWithApp(t: Test) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const apps = memoryApps()
  apps.keys.set('4711', publicHalf(pem))
  const permissions = { contents: 'write' } as const
  const where = { account: 'acme', repositories: ['shop'] }
  apps.installations.push({ id: 81, appID: '4711', ...where, permissions, suspended: false })
  return { pem, host: await startHost(t, github, { ...memoryModel(), apps }) }
}

t.test('every host with Apps has an issuer, and no other', async (t) => {
  const withApps = HOSTS.filter(({ hasApps }) => hasApps === true).map(({ name }) => name)
  t.same(Object.keys(ISSUERS), withApps)
  for (const name of withApps) t.type((await ISSUERS[name]?.())?.askForToken, 'function', name)
})

t.test('a token comes from the API of the repository, and its calls are measured', async (t) => {
  const { pem, host } = await hostWithApp(t)
  const { meter, recorded } = recordingMeter()
  const issue = openIssuers(settingsWith(host.caFile), { ...PARTS, meter })
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

t.test(
  'a namespace that asks for many tokens of an App keeps another one from the next turn only',
  async (t) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const app = appOf(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
    const host = await startHost(t, github, { ...memoryModel(), apps: memoryApps() })
    const issue = openIssuers(settingsWith(host.caFile), PARTS)
    const target = targetOf('GitCommit', parseRepositoryAddress(`${host.origin}/acme/shop.git`), {
      provider: 'github',
      baseURL: host.baseURL,
    })
    const ended: string[] = []
    // The App has no installation there: each is refused after a call.
    const ask = (namespace: string): Promise<unknown> =>
      issue({ app, kind: 'GitCommit', namespace, signal, target }).catch(() => ended.push(namespace))
    await Promise.all([...Array.from({ length: 10 }, () => ask('evil')), ask('team')])
    t.ok(ended.indexOf('team') <= 4, ended.join())
  },
)

t.test("of what the operator's App may ask for, a namespace leaves others as much as it takes", async (t) => {
  const { pem, host } = await hostWithApp(t)
  let now = 0
  const shares = makeRequestShares(() => now)
  const issue = openIssuers(settingsWith(host.caFile), { ...PARTS, shares })
  const target = targetOf('GitCommit', parseRepositoryAddress(`${host.origin}/acme/shop.git`), {
    provider: 'github',
    baseURL: host.baseURL,
  })
  /** How many are issued until one is refused, and the refusal; 60 at most. */
  async function tokensOf(namespace: string, app = { ...appOf(pem), ofOperator: true as const }) {
    for (let issued = 0; issued < 60; issued += 1) {
      const asked = await issue({ app, kind: 'GitCommit', namespace, signal, target }).catch(asFailure)
      if (asked instanceof Failure) return { issued, refusal: asked }
    }
    return { issued: 60, refusal: undefined }
  }
  // A pod has half of 900 points a minute, and a token takes six.
  const { issued, refusal } = await tokensOf('hog')
  t.ok(issued >= 37 && issued <= 38, `${issued} tokens`)
  t.match(refusal, { reason: 'RateLimited', message: /^This namespace has had its share/ })
  t.ok(shares.isOwn(refusal))
  t.ok((refusal?.retryAfterSeconds ?? Infinity) <= 65, `${refusal?.retryAfterSeconds} s`)
  t.ok((await tokensOf('team')).issued >= 18)
  const own = await tokensOf('hog', { ...appOf(pem) } as never)
  t.equal(own.issued, 60, 'an App of its own')
  now += 65_000
  t.ok((await tokensOf('hog')).issued >= 37, 'a minute later')
})

t.test('an answer of an issuer may have 256 KiB', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const app = appOf(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
  const host = await startHost(t, github, { ...memoryModel(), apps: memoryApps() })
  const issue = openIssuers(settingsWith(host.caFile), PARTS)
  const address = parseRepositoryAddress(`${host.origin}/acme/shop.git`)
  const target = targetOf('GitCommit', address, { provider: 'github', baseURL: host.baseURL })
  const ask = (words: string): Promise<unknown> => {
    host.fail({ kind: 'answer', answer: { status: 404, body: { message: 'No.', words } } })
    return issue({ app, kind: 'GitCommit', namespace: 'team', signal, target })
  }
  await t.rejects(ask('x'.repeat(255 * 1024)), { name: 'Failure', reason: 'RepositoryNotFound' })
  await t.rejects(ask('x'.repeat(257 * 1024)), {
    name: 'Failure',
    reason: 'ProviderUnavailable',
    message: /more than 256 KiB, the limit of an answer/,
  })
})

t.test('a token that could not be asked for in time is a Timeout', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const app = appOf(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
  const target = targetOf('GitCommit', parseRepositoryAddress('https://github.com/acme/shop'))
  const issue = openIssuers(settingsWith(CA_FILE), PARTS)
  const late = issue({ app, kind: 'GitCommit', namespace: 'team', signal: AbortSignal.abort(), target })
  await t.rejects(late, {
    name: 'Failure',
    reason: 'Timeout',
    message: /before a token for .* could be asked/,
  })
})
