import t from 'tap'
import { INSPECTIONS } from '../../cli/check/inspections.ts'
import { HOSTS } from '../../functions/domain/repository/hosts.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { openHTTP } from '../../functions/http/http.ts'
import type { Inspection } from '../../functions/providers/inspection.ts'
import { makeHostTrust, startTrustedHost } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import type { HostModel, ModelIdentity } from '../harness/hosts/model.ts'
import { dialectOf } from './contract/rows.ts'
import { settingsWith } from './port-stage.ts'
import { atOnce } from '../../functions/http/share.ts'

// What each host tells about a token, in requests that its table of operations knows.
t.same(Object.keys(INSPECTIONS).toSorted(), HOSTS.map(({ name }) => name).toSorted(), 'every host has one')

const trust = await makeHostTrust(t)
const withAPI = openHTTP(settingsWith(trust.caFile))
const SCOPES: Readonly<Record<string, string>> = {
  github: 'repo',
  gitlab: 'write_repository',
  bitbucket: 'repository:write',
  gitea: 'repo',
}

for (const name of Object.keys(INSPECTIONS))
  t.test(name, async (t) => {
    const dialect = await dialectOf(name)
    const { inspect } = (await INSPECTIONS[name]?.()) ?? {}
    if (dialect === undefined || inspect === undefined) throw new Error(name)
    const identities = new Map<string, ModelIdentity>()
    const protections = new Map([['release', false]])
    const memory = memoryModel()
    memory.branches.set('release', 1)
    memory.tokens.set('reader', 'read').set('stranger', 'stranger')
    const model: HostModel = { ...memory, identities, protections }
    const server = await startTrustedHost(t, trust, { dialect, model })
    const shown = `${server.origin}/acme/shop.git`
    const ask = (secret: string): Promise<Inspection | Failure> => {
      const login = { username: undefined, secret, identity: secret, secrets: [secret] }
      const signal = new AbortController().signal
      return withAPI(server.baseURL, signal, (fetch) =>
        inspect(
          {
            baseURL: server.baseURL,
            repository: model.repository,
            shown,
            permit: () => undefined,
            fetch,
            share: atOnce,
          },
          login,
          ['main', 'release', 'none'],
        ),
      ).catch((error: unknown) => {
        if (error instanceof Failure) return error
        throw error
      })
    }
    const scope = SCOPES[name] ?? ''
    identities.set('good-token', { user: 'ada', scopes: [scope], expires: '2199-01-02T03:04:05Z' })
    const good = await ask('good-token')
    t.match(good, { user: 'ada', mayPush: true, archived: false })
    t.match(good, {
      branches: [
        { name: 'main', exists: true },
        { name: 'release', exists: true },
        { name: 'none', exists: false },
      ],
    })
    if (good instanceof Failure) return
    if (name !== 'gitea') t.same(good.scopes, [scope])
    if (name === 'github' || name === 'gitlab') t.match(good.expires, /^2199-01-02/)
    if (name === 'gitlab' || name === 'gitea')
      t.match(good.branches[1], { isProtected: true, mayPush: false })

    identities.set('reader', { user: undefined, scopes: name === 'gitlab' ? undefined : ['read:repository'] })
    t.match(await ask('reader'), { user: undefined, mayPush: false })
    t.match(await ask('unknown'), { reason: 'AuthenticationFailed' })
    t.match(await ask('stranger'), { reason: 'RepositoryNotFound' })
    server.fail({ kind: 'answer', answer: { status: 503, body: '' } }, (_method, path) =>
      path.includes('/branches/'),
    )
    t.match(await ask('good-token'), { reason: 'ProviderUnavailable' })
    t.same(server.violations, [])
    t.notOk(JSON.stringify(good).includes('good-token'))
  })
