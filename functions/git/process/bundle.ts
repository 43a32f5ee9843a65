import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Trust } from '../../net/trust.ts'

/** What certificates are checked by. */
export interface Trusted {
  readonly trust: Trust
}

/** The bundle that git trusts; it does not change until it is released. */
export interface AcquiredBundle {
  /** Path of a PEM file. */
  readonly file: string
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
 * A folder of each workspace in which nothing is, for GIT_SSL_CAPATH: libcurl reads a folder of authorities besides the
 * file, Debian's by default, where each of the system's is in two files of its own and in one of all. With GnuTLS it parses
 * all of them for each connection, which takes 60 ms of the processor.
 */
export const NO_AUTHORITIES = 'no-authorities'

/**
 * Writes the bundle that git trusts: the system's authorities, and those of CA_FILE if there is one. Git takes one file
 * only. After CA_FILE has changed, the next caller gets a new bundle below `folder`, and the old one is removed when it has
 * no users left.
 */
export function openBundles(folder: string, { trust }: Trusted): AcquireBundle {
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
