import { tmpdir } from 'node:os'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { readConfig, type Config } from '../../functions/config.ts'
import { entries, member, parsedJSON } from '../../functions/domain/json-value.ts'
import type { Environment } from '../../functions/domain/settings.ts'

/** The settings of the function that decide what an attempt does; the others are about its pods. */
const TAKEN = [
  'ALLOWED_REPOSITORIES',
  'ATTEMPT_DEADLINE',
  'COMMIT_AUTHOR_EMAIL',
  'COMMIT_AUTHOR_NAME',
  'DEFAULT_SIGNING_REPOSITORIES',
  'DELEGATED_APPLIERS',
  'DELEGATE_SERVICE_ACCOUNT',
  'FETCH_LIMIT',
  'GIT_ENGINE',
  'INSECURE_HOSTS',
  'REFERENCE_SCOPE',
  'REQUESTED_BY_TRAILER',
  'REQUIRE_SIGNING',
] as const
/** These are about the machine on which the command runs. */
const OF_THIS_MACHINE = [
  'CA_FILE',
  'DEFAULT_GITHUB_APP_ID',
  'DEFAULT_GITHUB_APP_INSTALLATION_ID',
  'DEFAULT_GITHUB_APP_KEY_FILE',
  'DEFAULT_GIT_PATHS',
  'DEFAULT_GIT_REPOSITORIES',
  'DEFAULT_GIT_TOKEN',
  'DEFAULT_GIT_TOKEN_FILE',
  'DEFAULT_GIT_USERNAME',
  'DEFAULT_SIGNING_KEY_FILE',
  'HTTPS_PROXY',
  'https_proxy',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
  'NO_PROXY',
  'no_proxy',
  'SSH_KNOWN_HOSTS',
] as const

/** The ConfigMap of the operator's settings, as manifests/ names it. */
export const SETTINGS_MAP = 'commitlet-settings'

/** The key that signs stamps and seals commits: for the command that makes both itself. */
export const KEY = 'STAMP_KEY_FILE'

/**
 * The configuration of the function, from the environment of this process and, below that, from the operator's settings.
 * `more`: variables that only some commands take.
 * @throws WrongSetting as at the start of the function
 */
export function localConfig(
  env: Environment,
  operators: Environment,
  more: readonly (typeof KEY)[] = [],
): Config {
  const taken = [...TAKEN, ...OF_THIS_MACHINE, ...more].map((name) => [name, env[name]] as const)
  const own = Object.fromEntries(taken.filter(([, value]) => value !== undefined))
  const theirs = Object.fromEntries(TAKEN.map((name) => [name, operators[name]] as const))
  return readConfig({ TMPDIR: tmpdir(), ...theirs, ...own })
}

/** The operator's settings; undefined where they cannot be read. */
export async function readOperatorSettings(
  server: ApiServer,
  systemNamespace: string,
): Promise<Environment | undefined> {
  const path = `/api/v1/namespaces/${encodeURIComponent(systemNamespace)}/configmaps/${SETTINGS_MAP}`
  const answer = await server({ method: 'GET', path })
  // Without the ConfigMap each setting has its default.
  if (answer.status === 404) return {}
  if (answer.status !== 200) return undefined
  const data = member(parsedJSON(answer.text), 'data')
  return Object.fromEntries(entries(data).map(([name, value]) => [name, String(value)]))
}
