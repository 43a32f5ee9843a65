import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { readApp } from '../../functions/domain/credentials/app.ts'
import type { HandshakeShares } from '../../functions/domain/network/share.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { requireAPI, targetOf } from '../../functions/domain/repository/target.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import type { HTTPSettings } from '../../functions/http/http.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { makeRequestShares } from '../../functions/login/limits/request-shares.ts'
import { openHostCommits } from '../../functions/login/host-commits.ts'
import { openIssuers } from '../../functions/login/token-issuers.ts'
import { openProviders } from '../../functions/pull-request/provider-apis.ts'
import { loginOf } from '../git/stage.ts'
import { github } from '../harness/hosts/github.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { BRANCHES, LOGIN, settingsWith } from '../providers/port-stage.ts'

const { signal } = new AbortController()
const COMMIT = { branch: 'main', tip: 'a'.repeat(40), message: 'One\n', files: [] }

t.test(
  'handshakes of APIs are read, calls begin and answers are parsed in shares of the namespace that called',
  async (t) => {
    const host = await startHost(t, github, memoryModel())
    const shared: string[] = []
    const counted = new Set<string>()
    const calls: HTTPSettings['calls'] = {
      callFor: (namespace, work) => {
        shared.push(namespace)
        return Promise.resolve().then(work)
      },
      mustWait: () => false,
      count: (namespace) => counted.add(namespace),
    }
    const handshakes: HandshakeShares = {
      workFor: (namespace, work) => {
        shared.push(`${namespace}: handshake`)
        return Promise.resolve().then(work)
      },
      withOperatorsLogin: (_namespace, work) => Promise.resolve().then(work),
      mustWait: () => false,
    }
    const settings = { ...settingsWith(host.caFile), calls, handshakes }
    const limits = makeApiLimits(() => 0)
    const address = parseRepositoryAddress(`${host.origin}/acme/shop.git`)
    const target = targetOf('GitCommit', address, { provider: 'github', baseURL: host.baseURL })
    const api = { ...requireAPI(target), shown: address.text, branches: BRANCHES, permit: () => undefined }
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = Buffer.from(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
    const parts = readApp({ id: '4711', installation: undefined, privateKey: pem })
    if (!('id' in parts)) throw new Error(parts.join(' '))
    const places = { id: 'a', installation: 'b', privateKey: 'c' }
    const app = { ...parts, source: [], places, shown: 'The App', secrets: [] }

    const callers: Readonly<Record<string, () => Promise<unknown>>> = {
      team: () =>
        openProviders(settings, limits)(api, { login: LOGIN, namespace: 'team', signal }, (pullRequests) =>
          pullRequests.find(BRANCHES, 'open'),
        ),
      web: () =>
        openHostCommits(settings, limits)(target, 'web')(COMMIT, { login: loginOf('good-token'), signal }),
      shop: () =>
        openIssuers(settings, {
          now: () => new Date(),
          meter: NO_METER,
          shares: makeRequestShares(() => 0),
        })({ app, kind: 'GitCommit', namespace: 'shop', target, signal }),
    }
    for (const [namespace, call] of Object.entries(callers)) {
      shared.length = 0
      counted.clear()
      host.forget()
      host.seen.length = 0
      host.fail({ kind: 'answer', answer: { status: 404, body: { message: 'No.' } } })
      await t.rejects(call(), { name: 'Failure' })
      const own = shared.filter((one) => one === namespace)
      t.equal(own.length, 2 * host.seen.length, 'each call, and each answer, however short it is')
      t.strictSame(new Set(shared), new Set([namespace, `${namespace}: handshake`]))
      t.strictSame(counted, new Set([namespace]))
    }
  },
)
