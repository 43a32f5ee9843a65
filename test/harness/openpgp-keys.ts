import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TAP, Test } from 'tap'
import { REQUIRED } from './control-plane.ts'

/** A folder of GnuPG's own, with the keys that were made in it. */
export interface GnuPG {
  /** For a program that verifies with these keys. */
  readonly env: NodeJS.ProcessEnv
  /** Runs gpg without a passphrase and without questions; returns its output. */
  run(...args: readonly string[]): string
  /** Makes a key for this user ID, and returns the private half in armor. */
  makeKey(userID: string, algorithm: string, more?: KeyOptions): string
  /** The private half in armor. */
  exportKey(userID: string): string
  /** Whether gpg calls the signature of this text good. */
  verifies(text: Buffer, signature: string): boolean
  close(): void
}

/** How a key is made. */
export interface KeyOptions {
  /** `sign` by default; `cert` for a key with a subkey that signs. */
  readonly usage?: 'sign' | 'cert'
  readonly subkey?: string
  /** Such as `1d`; never by default. */
  readonly expires?: string
  /** Such as `20200101T000000`; now by default. */
  readonly at?: string
}

const QUIET = ['--batch', '--quiet', '--no-tty', '--pinentry-mode', 'loopback', '--passphrase', '']

/** Makes an empty folder; gpg has to be installed. */
export function openGnuPG(): GnuPG {
  const folder = mkdtempSync(join(tmpdir(), 'commitlet-gpg-'))
  const env = { ...process.env, GNUPGHOME: folder, LC_ALL: 'C' }

  function run(...args: readonly string[]): string {
    return execFileSync('gpg', [...QUIET, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  return {
    env,
    run,
    makeKey(userID, algorithm, { usage = 'sign', subkey, expires = 'never', at } = {}) {
      const clock = at === undefined ? [] : ['--faked-system-time', at]
      run(...clock, '--quick-generate-key', userID, algorithm, usage, expires)
      if (subkey !== undefined) {
        const [, fingerprint = ''] =
          /^fpr:+([0-9A-F]{40}):/m.exec(run('--with-colons', '--list-keys', userID)) ?? []
        run(...clock, '--quick-add-key', fingerprint, subkey, 'sign', expires)
      }
      return this.exportKey(userID)
    },
    exportKey: (userID) => run('--armor', '--export-secret-keys', userID),
    verifies(text, signature) {
      const file = join(folder, 'signature')
      writeFileSync(file, signature)
      return spawnSync('gpg', [...QUIET, '--verify', file, '-'], { env, input: text }).status === 0
    },
    close() {
      spawnSync('gpgconf', ['--kill', 'all'], { env })
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/**
 * Runs the tests that need GnuPG as one subtest of the file; where it is not installed they are skipped, loudly.
 */
export function withGnuPG(
  t: TAP | Test,
  tests: (t: Test, gpg: GnuPG) => Promise<void> | void,
): Promise<unknown> {
  return t.test('with GnuPG', async (t) => {
    if (spawnSync('gpg', ['--version']).status !== 0) {
      const missing = 'There is no gpg; install gnupg.'
      if (REQUIRED in process.env) throw new Error(missing)
      process.stderr.write(`SKIPPED, ${missing}\n`)
      t.pass('gpg', { skip: missing })
      return
    }
    const gpg = openGnuPG()
    t.teardown(() => gpg.close())
    await tests(t, gpg)
  })
}
