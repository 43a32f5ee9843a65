import { createHash } from 'node:crypto'
import type { GitUser } from '../harness/git-site.ts'
import { makeKey, rewriteKey } from '../harness/ssh-keys.ts'
import type { KeyFiles } from '../harness/ssh-keys.ts'
import type { SSHServer } from '../harness/ssh-server.ts'
import { PASSWORD, TOKEN, WRONG } from './distinctive-secrets.ts'

/** The operator's own token. */
export const DEFAULT_TOKEN = 'tkn-0f-The-0perator/~>?='
const READING = 'tkn-that-0nly-Reads/~>?='
const BLIND = 'tkn-that-5ees-Nothing/~>?='
const REVOKED = 'tkn-that-Was-Rev0ked/~>?='

/** Who may log in over HTTPS. A token is accepted with the user name for unknown hosts, and with dev. */
export const USERS: readonly GitUser[] = [
  { username: 'x-access-token', password: TOKEN },
  { username: 'dev', password: PASSWORD },
  { password: READING, right: 'read' },
  { password: BLIND, right: 'none' },
  { password: DEFAULT_TOKEN },
]

/** Keys that are made before the SSH server, which knows one of them as revoked. */
export interface MatrixKeys {
  readonly other: KeyFiles
  readonly revoked: KeyFiles
  readonly locked: KeyFiles
  /** A host's. */
  readonly yesterday: KeyFiles
}

export function makeKeys(): MatrixKeys {
  const make = (): KeyFiles => makeKey('-t', 'ed25519')
  const locked = make()
  return {
    other: make(),
    revoked: make(),
    locked: { ...locked, privateKey: rewriteKey(locked.privateKey, '-N', 'a passphrase') },
    yesterday: make(),
  }
}

/** The values in the Secrets, by their names in the cases. */
export type Values = ReturnType<typeof valuesFor>
export type ValueName = keyof Values

export function valuesFor(
  ssh: Pick<SSHServer, 'port' | 'knownHosts' | 'writer' | 'reader'>,
  keys: MatrixKeys,
) {
  const { writer, reader, knownHosts, port } = ssh
  return {
    nothing: ' \n',
    token: `${TOKEN}\n`,
    'wrong token': WRONG,
    'revoked token': REVOKED,
    'token for reading': READING,
    'token without access': BLIND,
    'user name': ' dev\n',
    'other user name': 'ops',
    password: PASSWORD,
    key: writer.privateKey,
    'key for reading': reader.privateKey,
    'other key': keys.other.privateKey,
    'revoked key': keys.revoked.privateKey,
    'locked key': keys.locked.privateKey,
    'half a key': keys.other.privateKey.slice(0, 200),
    'public key': keys.other.publicKey,
    'known hosts': knownHosts,
    'known hosts of others': `git.example.com ${wordsOf(keys.yesterday)}\n`,
    'known hosts of yesterday': `[127.0.0.1]:${port} ${wordsOf(keys.yesterday)}\n`,
  } as const
}

/** Everything in the values that is secret. */
export function secretsIn(values: Values): readonly string[] {
  const open = ['nothing', 'user name', 'other user name', 'public key']
  const hidden = Object.entries(values).filter(([name]) => !open.includes(name) && !name.startsWith('known'))
  const lines = hidden.flatMap(([, value]) => value.trim().split('\n'))
  return [...lines.filter((line) => line.length >= SHORTEST && !line.startsWith('-----')), DEFAULT_TOKEN]
}

// The last line of a key may be so short that it occurs anywhere.
const SHORTEST = 12

/** `type base64` of a public key. */
function wordsOf({ publicKey }: KeyFiles): string {
  return publicKey.split(' ').slice(0, 2).join(' ')
}

/** As `ssh-keygen -l` shows it. */
export function fingerprint(publicKey: string): string {
  const bytes = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`
}
