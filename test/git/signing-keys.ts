import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findKey } from '../../functions/domain/private-key/private-key.ts'
import { rememberLast, type Signer } from '../../functions/domain/signing/signer.ts'
import { sshSignature } from '../../functions/domain/signing/ssh-signature.ts'
import { AUTHOR } from './stage.ts'

/** The keys that a commit can be signed with, as ssh-keygen makes them. */
export const KEY_TYPES = {
  ed25519: ['-t', 'ed25519'],
  'ecdsa-256': ['-t', 'ecdsa', '-b', '256'],
  'ecdsa-384': ['-t', 'ecdsa', '-b', '384'],
  'ecdsa-521': ['-t', 'ecdsa', '-b', '521'],
  rsa: ['-t', 'rsa', '-b', '2048'],
} as const

export type KeyType = keyof typeof KEY_TYPES

/** Keys of each type that `ssh-keygen` made, and the file of allowed signers for them. */
export interface SigningKeys {
  readonly folder: string
  /** Path for `gpg.ssh.allowedSignersFile`. */
  readonly allowedSigners: string
  readonly signers: Readonly<Record<KeyType, Signer>>
  /** The private key as text. */
  text(type: KeyType): Promise<string>
  close(): Promise<void>
}

/** Makes them in a new folder. */
export async function makeSigningKeys(): Promise<SigningKeys> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-signing-'))
  const text = (type: KeyType): Promise<string> => readFile(join(folder, type), 'utf8')
  const lines: string[] = []
  const signers: Partial<Record<KeyType, Signer>> = {}
  for (const type of Object.keys(KEY_TYPES) as KeyType[]) {
    const file = join(folder, type)
    execFileSync('ssh-keygen', ['-q', ...KEY_TYPES[type], '-N', '', '-C', '', '-f', file])
    lines.push(`${AUTHOR.email} namespaces="git" ${await readFile(`${file}.pub`, 'utf8')}`)
    signers[type] = signerOf(await text(type))
  }
  const allowedSigners = join(folder, 'allowed_signers')
  await writeFile(allowedSigners, lines.join(''))
  return {
    folder,
    allowedSigners,
    signers: signers as Record<KeyType, Signer>,
    text,
    close: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

function signerOf(text: string): Signer {
  const found = findKey(Buffer.from(text))
  if ('complaint' in found) throw new Error(found.complaint)
  return rememberLast({ sign: (commit) => sshSignature(found.key, commit) })
}
