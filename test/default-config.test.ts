import { join } from 'node:path'
import t from 'tap'
import { readDefaultConfig } from '../functions/default-config.ts'
import { WrongSetting } from '../functions/domain/settings.ts'
import { makeKey } from './harness/ssh-keys.ts'

const TOKEN = 'tkn-0f-the-operator'
const DEFAULT_GIT_REPOSITORIES = 'git.example.com/teams/{namespace}, github.com/acme'

t.test('without a token there are no default credentials, whatever else is set', async (t) => {
  t.equal(readDefaultConfig({}), undefined)
  t.equal(readDefaultConfig({ DEFAULT_GIT_TOKEN: '', DEFAULT_GIT_TOKEN_FILE: '' }), undefined)
  t.equal(readDefaultConfig({ DEFAULT_GIT_REPOSITORIES, DEFAULT_GIT_USERNAME: 'robot' }), undefined)
})

t.test('the token is trimmed, the rest is taken as it is', async (t) => {
  const env = { DEFAULT_GIT_TOKEN: ` ${TOKEN}\n`, DEFAULT_GIT_REPOSITORIES }
  const repositories = DEFAULT_GIT_REPOSITORIES
  t.strictSame(readDefaultConfig(env), {
    source: { token: TOKEN },
    username: undefined,
    repositories,
    paths: undefined,
  })
  const more = { ...env, DEFAULT_GIT_USERNAME: 'robot', DEFAULT_GIT_PATHS: 'clusters/, shop/prod' }
  t.match(readDefaultConfig(more), { username: 'robot', paths: 'clusters/, shop/prod' })
})

t.test('of a file the path is kept, because its content may change', async (t) => {
  const file = join(t.testdir({ token: `${TOKEN}\n` }), 'token')
  t.match(readDefaultConfig({ DEFAULT_GIT_TOKEN_FILE: file, DEFAULT_GIT_REPOSITORIES }), { source: { file } })
})

const KEY = makeKey('-t', 'rsa', '-b', '2048', '-m', 'PEM').privateKey
const FOLDER = t.testdir({
  token: TOKEN,
  empty: ' \n',
  two: 'one\ntwo\n',
  app: KEY,
  other: makeKey('-t', 'ed25519').privateKey,
})
const APP = { DEFAULT_GITHUB_APP_ID: '4711', DEFAULT_GITHUB_APP_KEY_FILE: join(FOLDER, 'app') }

t.test('a GitHub App in place of a token', async (t) => {
  const source = { appID: '4711', installationID: undefined, keyFile: join(FOLDER, 'app') }
  t.match(readDefaultConfig({ ...APP, DEFAULT_GIT_REPOSITORIES }), { source })
  const named = { ...APP, DEFAULT_GITHUB_APP_INSTALLATION_ID: '81', DEFAULT_GIT_REPOSITORIES }
  t.match(readDefaultConfig(named), { source: { ...source, installationID: '81' } })
})

const EXAMPLE = 'git.example.com/teams/{namespace}'

for (const [title, env, sentence] of [
  [
    'both a token and a file',
    { DEFAULT_GIT_TOKEN: TOKEN, DEFAULT_GIT_TOKEN_FILE: join(FOLDER, 'token') },
    'DEFAULT_GIT_TOKEN and DEFAULT_GIT_TOKEN_FILE are both set; set one of them.',
  ],
  [
    'a token of blanks',
    { DEFAULT_GIT_TOKEN: ' \n' },
    'DEFAULT_GIT_TOKEN has to be a token in one line, but is not.',
  ],
  [
    'a token of two lines',
    { DEFAULT_GIT_TOKEN: `${TOKEN}\n${TOKEN}` },
    'DEFAULT_GIT_TOKEN has to be a token in one line, but is not.',
  ],
  ...['none', 'empty', 'two'].map(
    (name) =>
      [
        `a file that is ${name}`,
        { DEFAULT_GIT_TOKEN_FILE: join(FOLDER, name) },
        `DEFAULT_GIT_TOKEN_FILE is "${join(FOLDER, name)}", but has to be the path of a readable file with a token in one line.`,
      ] as const,
  ),
  [
    'no repositories',
    { DEFAULT_GIT_TOKEN: TOKEN, DEFAULT_GIT_REPOSITORIES: '' },
    `DEFAULT_GIT_REPOSITORIES is not set, but has to list the repositories that the token of DEFAULT_GIT_TOKEN may go to, such as ${EXAMPLE}.`,
  ],
  [
    'an App without repositories',
    { ...APP, DEFAULT_GIT_REPOSITORIES: '' },
    `DEFAULT_GIT_REPOSITORIES is not set, but has to list the repositories that the tokens of DEFAULT_GITHUB_APP_ID may go to, such as ${EXAMPLE}.`,
  ],
  [
    'an App beside a token',
    { ...APP, DEFAULT_GIT_TOKEN: TOKEN },
    'DEFAULT_GIT_TOKEN and DEFAULT_GITHUB_APP_ID are both set; set one of them.',
  ],
  [
    'an App without its key',
    { DEFAULT_GITHUB_APP_ID: '4711' },
    'DEFAULT_GITHUB_APP_KEY_FILE is not set, but a GitHub App needs both DEFAULT_GITHUB_APP_ID and DEFAULT_GITHUB_APP_KEY_FILE.',
  ],
  [
    'an installation alone',
    { DEFAULT_GITHUB_APP_INSTALLATION_ID: '81' },
    'DEFAULT_GITHUB_APP_ID is not set, but a GitHub App needs both DEFAULT_GITHUB_APP_ID and DEFAULT_GITHUB_APP_KEY_FILE.',
  ],
  [
    'an App of another ID',
    { ...APP, DEFAULT_GITHUB_APP_ID: 'commitlet' },
    'DEFAULT_GITHUB_APP_ID has to hold the App ID or the client ID of a GitHub App, such as 123456, but does not.',
  ],
  [
    'an App with a key that is not there',
    { ...APP, DEFAULT_GITHUB_APP_KEY_FILE: join(FOLDER, 'none') },
    'DEFAULT_GITHUB_APP_KEY_FILE is the path of a file that cannot be read.',
  ],
  [
    'an App with an SSH key',
    { ...APP, DEFAULT_GITHUB_APP_KEY_FILE: join(FOLDER, 'other') },
    'DEFAULT_GITHUB_APP_KEY_FILE holds a key of another type than RSA, but has to hold the RSA key that GitHub has generated for the App.',
  ],
  [
    'a repository as it is cloned',
    { DEFAULT_GIT_TOKEN: TOKEN, DEFAULT_GIT_REPOSITORIES: `github.com, https://x:${TOKEN}@github.com/acme` },
    `DEFAULT_GIT_REPOSITORIES has an entry that is not [user@]host[:port][/path]; write, for example, ${EXAMPLE}.`,
  ],
  [
    'a namespace in a part of a segment, which covers nothing',
    { DEFAULT_GIT_TOKEN: TOKEN, DEFAULT_GIT_REPOSITORIES: 'github.com/acme-{namespace}' },
    'DEFAULT_GIT_REPOSITORIES has an entry with {namespace} in a part of a segment; write, for example, git.example.com/teams/{namespace}.',
  ],
  ...['/shop', 'shop//x', ',', 'clusters,', './shop', 'shop/..', 'shop\\x'].map(
    (paths) =>
      [
        `the path ${JSON.stringify(paths)}, which covers nothing`,
        { DEFAULT_GIT_TOKEN: TOKEN, DEFAULT_GIT_PATHS: paths },
        'DEFAULT_GIT_PATHS has an entry that cannot be a path in a repository; write, for example, clusters/prod, shop.',
      ] as const,
  ),
  ...['ro:bot', 'ro\nbot'].map(
    (name) =>
      [
        `the user name ${JSON.stringify(name)}`,
        { DEFAULT_GIT_TOKEN: TOKEN, DEFAULT_GIT_USERNAME: name },
        'DEFAULT_GIT_USERNAME has a colon or a control character, which HTTPS cannot carry.',
      ] as const,
  ),
] as const) {
  t.test(`${title} is refused at the start, without the token`, async (t) => {
    const read = (): unknown => readDefaultConfig({ DEFAULT_GIT_REPOSITORIES, ...env })
    t.throws(read, new WrongSetting(sentence))
    t.notMatch(sentence, TOKEN)
  })
}
