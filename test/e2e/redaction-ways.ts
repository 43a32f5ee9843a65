import { gossip, PASSWORD, TOKEN, TOKEN_USER, WRONG } from './distinctive-secrets.ts'

/** The operator's own token. */
export const DEFAULT_TOKEN = 'tkn-0f-The-0perator/~>?='
/** User name and password of the operator's proxy. */
export const PROXY_LOGIN = { username: 'commitlet', password: 'pr0xy/~>?-w0rd+&=' } as const

/** The server of the repository of a case: `beside` is an SSH server that repeats everything, `hang` a silent one. */
export type Place = 'https' | 'proxy' | 'ssh' | 'beside' | 'hang'

/** One resource with other credentials than a token alone, and how it ends. */
export interface WayCase {
  readonly name: string
  readonly place: Place
  /** Keys of the Secret `mine`; undefined: the operator's default. */
  readonly keys?: Readonly<Record<string, string>>
  /** Keys of the Secret `mine` for the fallback. */
  readonly fallback?: Readonly<Record<string, string>>
  /** Where both fail, that of the first; the answer to the second is quoted as well. */
  readonly reason: string
  /** The message quotes no secret, so nothing has to be masked. */
  readonly unquoted?: true
}

const KEY = { privateKeyKey: 'deploy-key', knownHostsKey: 'host-keys' } as const
const WRONG_KEY = { privateKeyKey: 'wrong-key', knownHostsKey: 'host-keys' } as const
const HALF_KEY = { privateKeyKey: 'half-a-key', knownHostsKey: 'host-keys' } as const
const OTHER_HOST = { privateKeyKey: 'deploy-key', knownHostsKey: 'other-host-keys' } as const
const BY_TOKEN = { tokenKey: 'token' } as const
const BY_WRONG_TOKEN = { tokenKey: 'wrong' } as const

export const WAYS: readonly WayCase[] = [
  { name: 'ssh-hook', place: 'ssh', keys: KEY, reason: 'PushRejected' },
  { name: 'ssh-beside', place: 'beside', keys: KEY, reason: 'ProviderUnavailable' },
  { name: 'ssh-hang', place: 'hang', keys: KEY, reason: 'Timeout', unquoted: true },
  { name: 'ssh-wrong', place: 'ssh', keys: WRONG_KEY, reason: 'AuthenticationFailed', unquoted: true },
  { name: 'ssh-broken', place: 'ssh', keys: HALF_KEY, reason: 'CredentialsInvalid', unquoted: true },
  { name: 'ssh-host', place: 'ssh', keys: OTHER_HOST, reason: 'HostKeyMismatch', unquoted: true },
  { name: 'ssh-second', place: 'ssh', keys: WRONG_KEY, fallback: KEY, reason: 'AuthenticationFailed' },
  { name: 'default', place: 'https', reason: 'PushRejected' },
  {
    name: 'second',
    place: 'https',
    keys: BY_WRONG_TOKEN,
    fallback: BY_TOKEN,
    reason: 'AuthenticationFailed',
  },
  {
    name: 'both',
    place: 'https',
    keys: BY_WRONG_TOKEN,
    fallback: BY_WRONG_TOKEN,
    reason: 'AuthenticationFailed',
    unquoted: true,
  },
  { name: 'proxy', place: 'proxy', keys: BY_TOKEN, reason: 'NetworkError', unquoted: true },
]

/** The Secret `mine`, with every value that a login may use. */
export function secretOf(values: Readonly<Record<string, string>>): object {
  const stringData = { token: `${TOKEN}\n`, wrong: WRONG, password: PASSWORD, ...values }
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine' }, stringData }
}

/** What a server repeats: each secret of the login's Secret, in every spelling. */
export function saidTo({ keys, place }: WayCase, privateKey: string): string {
  if (keys === undefined) return gossip(TOKEN_USER, DEFAULT_TOKEN)
  // Only the beginning is quoted: the whole of the key, as a manifest of the Secret has it.
  const whole = `I know ${Buffer.from(privateKey).toString('base64')}\n`
  const words = [...linesOf(privateKey), privateKey, privateKey.trim(), TOKEN, WRONG, PASSWORD]
  // Over SSH there is no user name with a secret.
  const user = place === 'https' ? TOKEN_USER : undefined
  const said = words.map((secret) => gossip([TOKEN, WRONG].includes(secret) ? user : undefined, secret))
  return [place === 'beside' ? whole : '', ...said].join('')
}

/** The lines of a key that only its owner knows. */
export function linesOf(privateKey: string): readonly string[] {
  return privateKey
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('-----'))
}
