import type { Fault, Target } from '../harness/git-faults.ts'
import { PASSWORD, TOKEN, WRONG } from './distinctive-secrets.ts'

/** One resource, and how it ends. */
export interface RedactionCase {
  readonly name: string
  readonly reason: string
  readonly credentials?: object
  readonly hook?: string
  readonly fault?: Fault
  readonly at?: Target
}

const REASONS = {
  401: 'AuthenticationFailed',
  403: 'PermissionDenied',
  404: 'RepositoryNotFound',
  500: 'ProviderUnavailable',
  503: 'ProviderUnavailable',
} as const

/** Credentials by user name and password. */
export const BY_PASSWORD = { secretName: 'mine', usernameKey: 'username', passwordKey: 'password' }
const BY_WRONG_TOKEN = { secretName: 'mine', tokenKey: 'wrong' }

/** Successes and failures that involve a secret; the Secrets are those of `secrets`. */
export const CASES: readonly RedactionCase[] = [
  { name: 'token', reason: 'Succeeded' },
  { name: 'password', reason: 'Succeeded', credentials: BY_PASSWORD },
  { name: 'chatty', reason: 'Succeeded', hook: 'cat said >&2' },
  { name: 'rejected', reason: 'PushRejected', hook: 'cat said >&2; exit 1' },
  {
    name: 'rejected-by-password',
    reason: 'PushRejected',
    hook: 'cat said >&2; exit 1',
    credentials: BY_PASSWORD,
  },
  { name: 'wrong', reason: 'AuthenticationFailed', credentials: BY_WRONG_TOKEN },
  {
    name: 'several-lines',
    reason: 'CredentialsInvalid',
    credentials: { secretName: 'mine', tokenKey: 'lines' },
  },
  {
    name: 'missing-key',
    reason: 'CredentialsInvalid',
    credentials: { secretName: 'mine', tokenKey: 'none' },
  },
  {
    name: 'other-type',
    reason: 'CredentialsInvalid',
    credentials: { secretName: 'other', tokenKey: 'token' },
  },
  {
    name: 'not-allowed',
    reason: 'ReferenceForbidden',
    credentials: { secretName: 'bound', tokenKey: 'token' },
  },
  ...([401, 403, 404, 500, 503] as const).map((status) => ({
    name: `echo-${status}`,
    reason: REASONS[status],
    fault: { kind: 'echo', status } as const,
  })),
  {
    name: 'echo-push',
    reason: 'ProviderUnavailable',
    fault: { kind: 'echo', status: 500 },
    at: { exchange: 'receive-pack' },
  },
  { name: 'cut', reason: 'NetworkError', fault: { kind: 'cut' }, at: { exchange: 'upload-pack' } },
  { name: 'drop', reason: 'NetworkError', fault: { kind: 'drop' }, at: { exchange: 'receive-pack' } },
  { name: 'page', reason: 'RepositoryNotFound', fault: { kind: 'page' } },
  { name: 'hang', reason: 'Timeout', fault: { kind: 'hang' }, at: { exchange: 'receive-pack' } },
]

/** The Secrets that the cases use. */
export function secrets(): readonly object[] {
  const mine = {
    token: `${TOKEN}\n`,
    wrong: WRONG,
    lines: `${TOKEN}\n${WRONG}\n`,
    username: 'dev',
    password: PASSWORD,
  }
  const secret = (name: string, more: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    ...more,
  })
  const annotations = { 'commitlet.dev/allowed-repositories': 'git.example.com/acme' }
  return [
    secret('mine', { stringData: mine }),
    secret('other', { type: 'example.com/other', stringData: { token: TOKEN } }),
    { ...secret('bound', { stringData: { token: TOKEN } }), metadata: { name: 'bound', annotations } },
  ]
}
