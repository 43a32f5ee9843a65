import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import {
  defaultLoginFor,
  requireDefaultAllowed,
} from '../../../functions/domain/credentials/default-credentials.ts'
import type {
  DefaultCredentials,
  DefaultUse,
} from '../../../functions/domain/credentials/default-credentials.ts'
import type { LoginOf } from '../../../functions/domain/credentials/login.ts'
import { targetOf } from '../../../functions/domain/repository/target.ts'
import type { Calls, HostHints } from '../../../functions/domain/repository/target.ts'

const TOKEN = 'tkn-0f-the-operator'
const GIVEN: DefaultCredentials = {
  username: undefined,
  repositories: 'git.example.com/teams/{namespace}, github.com/acme',
  paths: undefined,
}

function written(path: string): DefaultUse['written'] {
  return [{ field: 'spec.resourceRef.path', path }]
}

function use(text: string, more: Partial<DefaultUse> & HostHints = {}): DefaultUse {
  const { provider, ...rest } = more
  const target = targetOf('GitCommit', parseRepositoryAddress(text), { provider })
  return { namespace: 'shop', target, written: written('shop/settings.yaml'), ...rest }
}

function apiUse(text: string): DefaultUse {
  return { namespace: 'shop', target: targetOf('PullRequest', parseRepositoryAddress(text)), written: [] }
}

async function loginBy<C extends Calls>(
  calls: C,
  [token, given, at]: readonly [string, DefaultCredentials, DefaultUse],
): Promise<LoginOf[C]> {
  requireDefaultAllowed(given, at)
  return defaultLoginFor(calls, at.target, { username: given.username, token })
}

function defaultLogin(...wanted: readonly [string, DefaultCredentials, DefaultUse]): Promise<LoginOf['git']> {
  return loginBy('git', wanted)
}

function defaultApiLogin(
  ...wanted: readonly [string, DefaultCredentials, DefaultUse]
): Promise<LoginOf['api']> {
  return loginBy('api', wanted)
}

t.test('the token goes with the user name that is given, else with that of the host', async (t) => {
  const at = 'https://git.example.com/teams/shop/config'
  t.match(await defaultLogin(TOKEN, GIVEN, use(at)), {
    method: 'password',
    username: 'x-access-token',
    password: TOKEN,
    secrets: [TOKEN],
  })
  t.match(await defaultLogin(TOKEN, GIVEN, use(at, { provider: 'gitlab' })), { username: 'oauth2' })
  t.match(await defaultLogin(TOKEN, { ...GIVEN, username: 'robot' }, use(at)), { username: 'robot' })
})

t.test('an e-mail address beside an API token of Bitbucket is that of its REST API', async (t) => {
  const given = {
    ...GIVEN,
    repositories: 'bitbucket.org/acme, github.com/acme',
    username: 'robot@example.com',
  }
  t.match(await defaultLogin(TOKEN, given, use('https://bitbucket.org/acme/config')), {
    username: 'x-bitbucket-api-token-auth',
  })
  t.match(await defaultLogin(TOKEN, given, use('https://github.com/acme/config')), {
    username: 'robot@example.com',
  })
})

t.test('its identity is that of user name and token', async (t) => {
  const at = use('https://github.com/acme/config')
  const { identity } = await defaultLogin(TOKEN, GIVEN, at)
  t.equal((await defaultLogin(TOKEN, GIVEN, at)).identity, identity)
  t.not((await defaultLogin(`${TOKEN}2`, GIVEN, at)).identity, identity)
  t.not((await defaultLogin(TOKEN, { ...GIVEN, username: 'robot' }, at)).identity, identity)
  t.notMatch(identity, TOKEN)
})

const COVERED: readonly (readonly [list: string, address: string, covered: boolean])[] = [
  ['git.example.com/teams/{namespace}', 'https://git.example.com/teams/shop', true],
  ['git.example.com/teams/{namespace}', 'https://git.example.com/teams/shop/config.git', true],
  ['git.example.com/teams/{namespace}.git', 'https://git.example.com/teams/shop.git', true],
  ['a.example.com , git.example.com/{namespace} , b.example.com', 'https://git.example.com/shop/x', true],
  ['git.example.com/{namespace}/{namespace}', 'https://git.example.com/shop/shop', true],
  ['git.example.com/teams/{namespace}', 'https://git.example.com/teams/other/config', false],
  ['git.example.com/teams/{namespace}', 'https://git.example.com/teams/shop-evil/config', false],
  ['git.example.com/teams/{namespace}', 'https://git.example.com/teams/{namespace}/config', false],
  ['git.example.com/teams/x{namespace}', 'https://git.example.com/teams/xshop', false],
  ['git.example.com/teams/{namespace}x', 'https://git.example.com/teams/shopx', false],
  ['{namespace}', 'https://shop/config', false],
  ['git.example.com:8443/{namespace}', 'https://git.example.com/shop', false],
  ['', 'https://git.example.com/shop', false],
  ['git.example.com/teams', 'https://git.example.com/teams/{shop}', false],
  ['git.example.com/{namespace}', 'https://git.example.com/shop/{ab}', false],
  ['git.example.com/{namespace}/{ab}', 'https://git.example.com/shop/{ab}', true],
  ['robot@git.example.com/teams', 'https://git.example.com/teams/shop', false],
]

for (const [repositories, text, covered] of COVERED) {
  t.test(
    `"${repositories}" ${covered ? 'covers' : 'does not cover'} ${text} for the namespace shop`,
    async (t) => {
      const login = (): Promise<unknown> => defaultLogin(TOKEN, { ...GIVEN, repositories }, use(text))
      if (covered) return t.match(await login(), { password: TOKEN })
      await t.rejects(login(), {
        reason: 'ReferenceForbidden',
        message: `The operator's default credentials may not be used for ${text} in the namespace shop; name a Secret in spec.credentials, or ask your Commitlet operator.`,
      })
    },
  )
}

t.test('only the paths that the operator names are written, or all but control files', async (t) => {
  const at = 'https://github.com/acme/config'
  const message =
    "The operator's default credentials may not write spec.resourceRef.path; name a Secret in spec.credentials, or ask your Commitlet operator."
  const login = (paths: string | undefined, ...found: readonly string[]): Promise<unknown> =>
    defaultLogin(TOKEN, { ...GIVEN, paths }, use(at, { written: found.flatMap(written) }))
  t.match(await login(undefined, 'any/where.yaml'), { password: TOKEN })
  t.match(await login('clusters', 'clusters/a.yaml'), { password: TOKEN })
  t.match(await login('.github/workflows', '.github/workflows/a.yaml'), { password: TOKEN })
  t.match(await login('clusters'), { password: TOKEN }, 'a pull request writes no path')
  await t.rejects(login(undefined, '.github/workflows/a.yaml'), { reason: 'ReferenceForbidden', message })
  await t.rejects(login('clusters', 'clusters-evil/a.yaml'), { reason: 'ReferenceForbidden', message })
  await t.rejects(login('clusters', '.github/workflows/a.yaml'), { reason: 'ReferenceForbidden', message })
  await t.rejects(login('clusters', 'clusters/a.yaml', 'b.yaml'), { message }, 'each path counts')
})

t.test('at the API it is the token alone, or with the user name that is given', async (t) => {
  const at = apiUse('https://github.com/acme/config')
  const alone = await defaultApiLogin(TOKEN, GIVEN, at)
  t.match(alone, { username: undefined, secret: TOKEN, secrets: [TOKEN] })
  const named = await defaultApiLogin(TOKEN, { ...GIVEN, username: 'robot' }, at)
  t.match(named, { username: 'robot', secrets: [TOKEN, `robot:${TOKEN}`] })
  t.not(named.identity, alone.identity)
  t.not(alone.identity, (await defaultLogin(TOKEN, GIVEN, at)).identity)
  t.equal((await defaultApiLogin(TOKEN, { ...GIVEN, username: 'x-token-auth' }, at)).username, undefined)
})

t.test('the token goes to the API of an allowed repository, whatever paths may be written', async (t) => {
  const given = { ...GIVEN, paths: 'clusters' }
  t.match(await defaultApiLogin(TOKEN, given, apiUse('git@github.com:acme/config')), {})
  await t.rejects(defaultApiLogin(TOKEN, given, apiUse('https://github.com/other/config')), {
    reason: 'ReferenceForbidden',
    message: /may not be used for https:\/\/github\.com\/other\/config in the namespace shop;/,
  })
})

t.test('an allowed port of one server does not allow the API on another port of the host', async (t) => {
  const at = apiUse('ssh://git@git.example.com:8443/acme/config')
  const login = (repositories: string): Promise<unknown> =>
    defaultApiLogin(TOKEN, { ...GIVEN, repositories }, at)
  t.match(await login('git.example.com:8443, git.example.com/acme'), { secret: TOKEN })
  for (const repositories of ['git.example.com:8443', 'git.example.com/acme'])
    await t.rejects(login(repositories), { reason: 'ReferenceForbidden', message: /may not be used for / })
})

t.test('a user name that the API does not accept is for the operator to fix, and is not shown', async (t) => {
  const repositories = 'bitbucket.org/acme, github.com/acme'
  const login = (username: string, address: string): Promise<unknown> =>
    defaultApiLogin(TOKEN, { ...GIVEN, repositories, username }, apiUse(address))
  t.match(await login('robot@example.com', 'https://bitbucket.org/acme/config'), {
    username: 'robot@example.com',
  })
  t.match(await login('x-token-auth', 'https://bitbucket.org/acme/config'), { username: undefined })
  for (const [username, host] of [
    ['robot', 'bitbucket.org'],
    ['ro:bot', 'github.com'],
  ] as const) {
    await t.rejects(login(username, `https://${host}/acme/config`), {
      reason: 'CredentialsInvalid',
      retry: 'slow',
      message: `The API of ${host} does not accept the user name of the operator's default credentials (DEFAULT_GIT_USERNAME); name a Secret in spec.credentials, or ask your Commitlet operator.`,
    })
  }
})
