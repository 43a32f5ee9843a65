import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { followTrust } from '../../net/trust.ts'
import type { Trust } from '../../net/trust.ts'

/** What certificates are checked by. */
export interface Trusted {
  readonly trust: Trust
}

/** The bundle that git trusts; it does not change until it is released. */
export interface AcquiredBundle {
  /** Path of a PEM file; undefined: the authorities that git was built for. */
  readonly file: string | undefined
  /** Called once. */
  readonly release: () => Promise<void>
}

/** @throws Failure Internal where CA_FILE could not be used yet */
export type AcquireBundle = () => Promise<AcquiredBundle>

interface Bundle {
  readonly authorities: readonly string[]
  readonly file: string
  readonly written: Promise<void>
  users: number
}

/**
 * Writes the bundle that git trusts when there is a CA_FILE: the system's authorities and the file's own. Git takes
 * one file only, and GIT_SSL_CAINFO overrides every other setting. After CA_FILE has changed, the next caller gets a
 * new bundle below `folder`, and the old one is removed when it has no users left.
 */
export function openBundles(folder: string, { trust }: Trusted): AcquireBundle {
  if (!trust.hasOwn) return () => Promise.resolve({ file: undefined, release: () => Promise.resolve() })
  let current: Bundle | undefined
  let count = 0

  function bundleOf(authorities: readonly string[]): Bundle {
    if (current?.authorities === authorities) return current
    count += 1
    const file = join(folder, `authorities-${count}.pem`)
    const text = authorities.map((pem) => `${pem.trim()}\n`).join('')
    const bundle = { authorities, file, written: writeFile(file, text, { mode: 0o600 }), users: 0 }
    // A full folder may have space later.
    bundle.written.catch(() => {
      if (current === bundle) current = undefined
    })
    return bundle
  }

  async function removeUnused(bundle: Bundle | undefined): Promise<void> {
    if (bundle !== undefined && bundle !== current && bundle.users === 0)
      await rm(bundle.file, { force: true })
  }

  return async function acquireBundle() {
    const authorities = await trust.authorities()
    const before = current
    const bundle = bundleOf(authorities)
    current = bundle
    bundle.users += 1
    async function release(): Promise<void> {
      bundle.users -= 1
      await removeUnused(bundle)
    }
    try {
      await Promise.all([bundle.written, removeUnused(before)])
      return { file: bundle.file, release }
    } catch (error) {
      await release()
      throw error
    }
  }
}

/** PEM texts of the authorities that git trusts: those of the bundle; undefined: those of the system. */
export async function readBundle(bundle: string | undefined): Promise<readonly string[]> {
  return bundle === undefined ? followTrust(undefined).authorities() : [await readFile(bundle, 'utf8')]
}
