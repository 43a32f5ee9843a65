import { readFileSync } from 'node:fs'
import { readApp } from '../domain/credentials/app.ts'
import type { App } from '../domain/credentials/app.ts'
import { appLoginFor } from '../domain/credentials/app-login.ts'
import { defaultLoginFor, requireDefaultAllowed } from '../domain/credentials/default-credentials.ts'
import type { AppSource, TokenSource } from '../domain/credentials/default-credentials.ts'
import type { ApiLogin, Login } from '../domain/credentials/login.ts'
import type { LoginUse } from '../domain/credentials/login-for.ts'
import { Failure } from '../domain/failure.ts'
import { orUndefined } from '../domain/settings.ts'
import type { World } from '../world.ts'
import type { BoundCredentials } from './credential-source.ts'

/**
 * The operator's current default credentials, for this namespace. Throws CredentialsInvalid if there are none, or their
 * token or private key cannot be read.
 */
export function readDefault(
  namespace: string,
  { settings, tokenFor }: Pick<World, 'settings'> & Pick<LoginUse, 'tokenFor'>,
): BoundCredentials {
  const { defaults } = settings
  if (defaults === undefined) throw noDefault()
  const { source, username } = defaults
  const requireAllowed: BoundCredentials['requireAllowed'] = (target, written) =>
    requireDefaultAllowed(defaults, { namespace, target, written })
  if ('keyFile' in source) {
    const app = readDefaultApp(source)
    return {
      requireAllowed,
      loginFor: async (calls, target) => ofOperator(await appLoginFor(calls, { app, target }, tokenFor)),
    }
  }
  const token = readToken(source)
  return {
    requireAllowed,
    loginFor: async (calls, target) => ofOperator(await defaultLoginFor(calls, target, { username, token })),
  }
}

function ofOperator<L extends Login | ApiLogin>(login: L): L & { readonly ofOperator: true } {
  return { ...login, ofOperator: true }
}

/**
 * The operator's current token, trimmed. Throws CredentialsInvalid if its file cannot be read or does not contain a
 * token in one line.
 */
export function readToken(source: TokenSource): string {
  if ('token' in source) return source.token
  const token = orUndefined(() => readFileSync(source.file, 'utf8'))?.trim() ?? ''
  if (token !== '' && !/\p{Cc}/u.test(token)) return token
  throw new Failure(
    'CredentialsInvalid',
    "The operator's default token cannot be read from the file that DEFAULT_GIT_TOKEN_FILE names; ask your Commitlet operator, or name a Secret in spec.credentials.",
  )
}

/** Variables of the environment that describe the operator's GitHub App. */
export const APP_VARIABLES = {
  id: 'DEFAULT_GITHUB_APP_ID',
  installation: 'DEFAULT_GITHUB_APP_INSTALLATION_ID',
  privateKey: 'DEFAULT_GITHUB_APP_KEY_FILE',
} as const

/** The operator's current App, or what is wrong with it, as a sentence without its full stop. */
export function findDefaultApp({
  appID: id,
  installationID: installation,
  keyFile,
}: AppSource): App | string {
  const { privateKey: name } = APP_VARIABLES
  const privateKey = orUndefined(() => readFileSync(keyFile))
  if (privateKey === undefined) return `${name} is the path of a file that cannot be read`
  const app = readApp({ id, installation, privateKey })
  if (!('id' in app)) return `${APP_VARIABLES[app[0]]} ${app[1]}`
  const shown = "The operator's default GitHub App"
  // Not the name of a namespace: that has no space.
  return {
    ...app,
    source: ['the operator', 'default'],
    places: APP_VARIABLES,
    shown,
    secrets: [],
    ofOperator: true,
  }
}

function readDefaultApp(source: AppSource): App {
  const app = findDefaultApp(source)
  if (typeof app !== 'string') return app
  throw new Failure(
    'CredentialsInvalid',
    `The operator's default GitHub App cannot be used: ${app}; ask your Commitlet operator, or name a Secret in spec.credentials.`,
  )
}

function noDefault(): Failure {
  return new Failure(
    'CredentialsInvalid',
    'spec.credentials is missing, and the operator has set no default credentials (DEFAULT_GIT_TOKEN); name a Secret there.',
  )
}
