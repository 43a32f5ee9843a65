import t from 'tap'
import { parseRepositoryAddress } from '../../functions/domain/address.ts'
import { defaultLogin } from '../../functions/domain/default-credentials.ts'
import type { DefaultCredentials, DefaultUse } from '../../functions/domain/default-credentials.ts'

const TOKEN = 'tkn-0f-the-operator'
const GIVEN: DefaultCredentials = {
  username: undefined,
  repositories: 'git.example.com/teams/{namespace}, github.com/acme',
  paths: undefined,
}

function use(text: string, more: Partial<DefaultUse> = {}): DefaultUse {
  const address = parseRepositoryAddress(text)
  return { namespace: 'shop', address, provider: undefined, path: 'shop/settings.yaml', ...more }
}

t.test('the token goes with the user name that is given, else with that of the host', async (t) => {
  const at = 'https://git.example.com/teams/shop/config'
  t.match(defaultLogin(TOKEN, GIVEN, use(at)), {
    method: 'password',
    username: 'x-access-token',
    password: TOKEN,
    secrets: [TOKEN],
  })
  t.match(defaultLogin(TOKEN, GIVEN, use(at, { provider: 'gitlab' })), { username: 'oauth2' })
  t.match(defaultLogin(TOKEN, { ...GIVEN, username: 'robot' }, use(at)), { username: 'robot' })
})

t.test('an e-mail address beside an API token of Bitbucket is that of its REST API', async (t) => {
  const given = {
    ...GIVEN,
    repositories: 'bitbucket.org/acme, github.com/acme',
    username: 'robot@example.com',
  }
  t.match(defaultLogin(TOKEN, given, use('https://bitbucket.org/acme/config')), {
    username: 'x-bitbucket-api-token-auth',
  })
  t.match(defaultLogin(TOKEN, given, use('https://github.com/acme/config')), {
    username: 'robot@example.com',
  })
})

t.test('its identity is that of user name and token', async (t) => {
  const at = use('https://github.com/acme/config')
  const { identity } = defaultLogin(TOKEN, GIVEN, at)
  t.equal(defaultLogin(TOKEN, GIVEN, at).identity, identity)
  t.not(defaultLogin(`${TOKEN}2`, GIVEN, at).identity, identity)
  t.not(defaultLogin(TOKEN, { ...GIVEN, username: 'robot' }, at).identity, identity)
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
]

for (const [repositories, text, covered] of COVERED) {
  t.test(
    `"${repositories}" ${covered ? 'covers' : 'does not cover'} ${text} for the namespace shop`,
    async (t) => {
      const login = (): unknown => defaultLogin(TOKEN, { ...GIVEN, repositories }, use(text))
      if (covered) return t.match(login(), { password: TOKEN })
      t.throws(login, {
        reason: 'ReferenceForbidden',
        message: `The operator's default credentials may not go to ${text} from the namespace shop; name a Secret in spec.credentials, or ask whoever runs Commitlet.`,
      })
    },
  )
}

t.test('only the paths that the operator names are written, or all but those that steer', async (t) => {
  const at = 'https://github.com/acme/config'
  const message =
    "The operator's default credentials may not write spec.resourceRef.path; name a Secret in spec.credentials, or ask whoever runs Commitlet."
  const login = (paths: string | undefined, path: string | undefined): unknown =>
    defaultLogin(TOKEN, { ...GIVEN, paths }, use(at, { path }))
  t.match(login(undefined, 'any/where.yaml'), { password: TOKEN })
  t.match(login('clusters', 'clusters/a.yaml'), { password: TOKEN })
  t.match(login('.github/workflows', '.github/workflows/a.yaml'), { password: TOKEN })
  t.match(login('clusters', undefined), { password: TOKEN }, 'a pull request writes no path')
  t.throws(() => login(undefined, '.github/workflows/a.yaml'), { reason: 'ReferenceForbidden', message })
  t.throws(() => login('clusters', 'clusters-evil/a.yaml'), { reason: 'ReferenceForbidden', message })
  t.throws(() => login('clusters', '.github/workflows/a.yaml'), { reason: 'ReferenceForbidden', message })
})
