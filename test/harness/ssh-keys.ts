import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs `work` in a folder of its own, which is gone afterwards. */
export function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'commitlet-keys-'))
  try {
    return work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Both halves of a key as ssh-keygen writes them. */
export interface KeyFiles {
  readonly privateKey: string
  readonly publicKey: string
}

/** A new key by `ssh-keygen`, such as `makeKey('-t', 'ed25519')`; without a passphrase unless `-N` is given. */
export function makeKey(...args: readonly string[]): KeyFiles {
  return inFolder((folder) => {
    const file = join(folder, 'key')
    const passphrase = args.includes('-N') ? [] : ['-N', '']
    execFileSync('ssh-keygen', ['-q', '-C', 'test', '-f', file, ...passphrase, ...args])
    return { privateKey: readFileSync(file, 'utf8'), publicKey: readFileSync(`${file}.pub`, 'utf8') }
  })
}

/** What `openssl` writes to its standard output, with `input` as its standard input. */
export function openssl(args: readonly string[], input = ''): string {
  return execFileSync('openssl', [...args], { input, stdio: ['pipe', 'pipe', 'ignore'], encoding: 'utf8' })
}

/** Changes how a file of ssh-keygen is written (`-p`), such as to `-m PEM`. */
export function rewriteKey(privateKey: string, ...args: readonly string[]): string {
  return inFolder((folder) => {
    const file = join(folder, 'key')
    writeFileSync(file, privateKey, { mode: 0o600 })
    execFileSync('ssh-keygen', [
      '-q',
      '-p',
      '-P',
      '',
      '-f',
      file,
      ...(args.includes('-N') ? [] : ['-N', '']),
      ...args,
    ])
    return readFileSync(file, 'utf8')
  })
}
