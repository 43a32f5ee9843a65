import { ENTRY_FORM, unsoundEntry, unsoundPrefix } from './domain/repository/allowed-repositories.ts'
import type { AppSource, DefaultConfig, TokenSource } from './domain/credentials/default-credentials.ts'
import { Failure } from './domain/failure.ts'
import type { Environment } from './domain/settings.ts'
import { text, WrongSetting } from './domain/settings.ts'
import { APP_VARIABLES, findDefaultApp, readToken } from './login/read-default.ts'

const TOKEN = 'DEFAULT_GIT_TOKEN'
const FILE = 'DEFAULT_GIT_TOKEN_FILE'
const REPOSITORIES = 'DEFAULT_GIT_REPOSITORIES'

/**
 * Reads DEFAULT_GIT_* and DEFAULT_GITHUB_APP_*; undefined if neither a token nor an App is set. Throws WrongSetting for an
 * invalid value, with one sentence that never contains the token.
 */
export function readDefaultConfig(env: Environment): DefaultConfig | undefined {
  const source = readSource(env)
  if (source === undefined) return undefined
  const repositories = text(env, REPOSITORIES, undefined)
  if (repositories === undefined)
    throw new WrongSetting(
      `${REPOSITORIES} is not set, but has to list the repositories that the ${'keyFile' in source ? `tokens of ${APP_VARIABLES.id}` : `token of ${TOKEN}`} may go to, such as git.example.com/teams/{namespace}.`,
    )
  if (unsoundEntry(repositories) !== undefined)
    throw new WrongSetting(
      `${REPOSITORIES} has an entry that is not ${ENTRY_FORM}; write, for example, git.example.com/teams/{namespace}.`,
    )
  if (/[^/\s,]\{namespace\}|\{namespace\}(?!(?:\.git)?\s*(?:[/,]|$))/.test(repositories))
    throw new WrongSetting(
      `${REPOSITORIES} has an entry with {namespace} in a part of a segment; write, for example, git.example.com/teams/{namespace}.`,
    )
  const username = text(env, 'DEFAULT_GIT_USERNAME', undefined)
  if (username !== undefined && /[:\p{Cc}]/u.test(username))
    throw new WrongSetting(
      'DEFAULT_GIT_USERNAME has a colon or a control character, which HTTPS cannot carry.',
    )
  const paths = text(env, 'DEFAULT_GIT_PATHS', undefined)
  if (paths !== undefined && unsoundPrefix(paths) !== undefined)
    throw new WrongSetting(
      'DEFAULT_GIT_PATHS has an entry that cannot be a path in a repository; write, for example, clusters/prod, shop.',
    )
  return { source, username, repositories, paths }
}

function readSource(env: Environment): DefaultConfig['source'] | undefined {
  const [token, file] = [text(env, TOKEN, undefined)?.trim(), text(env, FILE, undefined)]
  const app = readAppSource(env)
  const set = [token === undefined ? [] : [TOKEN], file === undefined ? [] : [FILE]].flat()
  const [one, other] = app === undefined ? set : [...set, APP_VARIABLES.id]
  if (one !== undefined && other !== undefined)
    throw new WrongSetting(`${one} and ${other} are both set; set one of them.`)
  if (app !== undefined) return app
  if (token !== undefined) return requireLine(token)
  if (file === undefined) return undefined
  try {
    readToken({ file })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new WrongSetting(
      `${FILE} is "${file}", but has to be the path of a readable file with a token in one line.`,
    )
  }
  return { file }
}

function readAppSource(env: Environment): AppSource | undefined {
  const { id, installation, privateKey } = APP_VARIABLES
  const [appID, keyFile] = [text(env, id, undefined), text(env, privateKey, undefined)]
  const installationID = text(env, installation, undefined)
  if (appID === undefined && keyFile === undefined && installationID === undefined) return undefined
  if (appID === undefined || keyFile === undefined)
    throw new WrongSetting(
      `${appID === undefined ? id : privateKey} is not set, but a GitHub App needs both ${id} and ${privateKey}.`,
    )
  const source = { appID, installationID, keyFile }
  const found = findDefaultApp(source)
  if (typeof found === 'string') throw new WrongSetting(`${found}.`)
  return source
}

function requireLine(token: string): TokenSource {
  if (token !== '' && !/\p{Cc}/u.test(token)) return { token }
  throw new WrongSetting(`${TOKEN} has to be a token in one line, but is not.`)
}
