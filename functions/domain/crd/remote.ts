import { HOSTS, PROVIDER_NAMES } from '../repository/hosts.ts'
import { credentialsSchema } from './credentials.ts'
import type { Schema, Validation } from './schema.ts'

const HOST = '([a-z0-9][a-z0-9.-]*|\\[[0-9a-f:.]+\\])'
const PORT = '(:[1-9][0-9]{0,4})?'
const USER = '[A-Za-z0-9_][A-Za-z0-9._+-]*'
const SEGMENT = '[A-Za-z0-9._~{}+-]+'
const PATH = `${SEGMENT}(/${SEGMENT})*`
// A path after "host:" becomes an argument of its own on SSH's command line: it must not look like an option.
const SHORT_PATH = `[A-Za-z0-9._~{}+]${PATH.replace(']+', ']*')}`

/** `spec.repository`. The rest of its grammar is `parseRepositoryAddress`. */
export const REPOSITORY_SCHEMA: Schema = {
  type: 'string',
  description:
    'The address of the Git repository, as for "git clone", without a password. ' +
    'Example: https://git.example.com/acme/shop.git',
  expects: 'an address such as https://git.example.com/acme/shop.git',
  minLength: 1,
  maxLength: 2048,
  pattern: `^(https?://${HOST}${PORT}/${PATH}|ssh://${USER}@${HOST}${PORT}/${PATH}|${USER}@${HOST}:${SHORT_PATH})$`,
  'x-kubernetes-validations': [
    {
      rule: "!self.matches(r'[/:][.]{1,2}(/|$)')",
      message: 'The path of a repository cannot have "." or ".." as a segment.',
    },
  ],
}

// The rules of branch-name.ts that a regular expression can express.
const MALFORMED = "self.matches(r'^-|^refs/|(^|:|/)[.]|[.][.]|[.]lock(/|$)|//|^/|/$|[.]$|@[{]|^HEAD$')"

/** The short name of a branch; with `owner`, the branch of a fork may be written as `owner:branch`. */
export function branchSchema(description: string, owner: 'owner' | 'no owner' = 'no owner'): Schema {
  const name = '[^\\x00-\\x20\\x7f~^:?*\\[\\\\]+'
  return {
    type: 'string',
    description,
    expects:
      owner === 'owner'
        ? 'the name of a branch, such as feature, or owner:feature (GitHub only)'
        : 'the name of a branch',
    minLength: 1,
    maxLength: 255,
    pattern: owner === 'owner' ? `^([A-Za-z0-9_][A-Za-z0-9._-]*:)?${name}$` : `^${name}$`,
    'x-kubernetes-validations': [
      {
        rule: `!${MALFORMED}`,
        message: 'This is not a valid branch name (see git check-ref-format).',
      },
    ],
  }
}

/** An API address of a self-managed installation; gate/provider-rules.ts has the other rules. */
function apiAddress(description: string, example: string): Schema {
  return {
    type: 'string',
    description: `${description} Example: ${example}`,
    expects: `an https address without a slash at its end, such as ${example}`,
    minLength: 1,
    maxLength: 2048,
    pattern: '^https?://[a-z0-9.:\\[\\]-]+(/[A-Za-z0-9._~+-]+)*$',
  }
}

const PUBLIC_HOSTS = HOSTS.flatMap(({ webHost, tenantDomain }) => [
  webHost ?? [],
  tenantDomain === undefined ? [] : `*.${tenantDomain}`,
])
  .flat()
  .join(', ')

/** The fields of both kinds that describe the remote and how to log in to it. */
export const REMOTE_PROPERTIES: Readonly<Record<string, Schema>> = {
  repository: REPOSITORY_SCHEMA,
  credentials: credentialsSchema(
    "How to log in to the repository. Defaults to the operator's default credentials.",
  ),
  fallbackCredentials: credentialsSchema(
    'How to log in if the credentials are missing or refused, or do not find the repository. Not used after ' +
      'any other failure.',
  ),
  suspend: {
    type: 'boolean',
    description:
      'While this is true, Commitlet starts nothing for this resource. To change only this field is no request: ' +
      'nothing is done again, and the requester stays the same. Example: true',
  },
  provider: {
    type: 'string',
    description:
      `Which software serves the repository, one of ${PROVIDER_NAMES}. It is known for ${PUBLIC_HOSTS} and can be ` +
      'left out there. Example: gitlab',
    expects: 'the name of a provider, such as gitlab',
    minLength: 1,
    maxLength: 32,
    pattern: '^[a-z][a-z0-9-]*$',
  },
  providerConfig: {
    type: 'object',
    description:
      'Where the API of a self-managed installation is. Not needed for public hosts. ' +
      'Example: {baseURL: "https://git.example.com/api/v4"}',
    expects: 'an object such as {baseURL: "https://git.example.com/api/v4"}',
    'x-kubernetes-map-type': 'atomic',
    properties: {
      baseURL: apiAddress(
        "The address of the provider's API, on the host and port of the repository.",
        'https://git.example.com/api/v3',
      ),
      uploadURL: apiAddress(
        'The address for uploads of a GitHub Enterprise Server, on the host and port of the repository. It is checked, but not used for pull requests.',
        'https://git.example.com/api/uploads',
      ),
    },
  },
}

/** Rules of both kinds that involve several fields of the spec. */
export const REMOTE_VALIDATIONS: readonly Validation[] = [
  {
    rule: '!has(self.fallbackCredentials) || has(self.credentials)',
    message: 'Set fallbackCredentials only together with credentials.',
  },
]
