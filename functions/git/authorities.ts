import { readFile, writeFile } from 'node:fs/promises'
import { readAuthorities } from '../net/authorities.ts'

/**
 * Writes the bundle that git trusts when there is a CA_FILE: the system's authorities and the file's own. Git takes
 * one file only, and GIT_SSL_CAINFO beats every other setting. Answers the bundle's path.
 * @throws Failure Internal where CA_FILE cannot be read
 */
export async function writeAuthorities(caFile: string, bundle: string): Promise<string> {
  const trusted = await readAuthorities(caFile)
  await writeFile(bundle, trusted.map((pem) => `${pem.trim()}\n`).join(''), { mode: 0o600 })
  return bundle
}

/** PEM texts of the authorities that git trusts: those of the bundle; undefined: those of the system. */
export async function readBundle(bundle: string | undefined): Promise<readonly string[]> {
  return bundle === undefined ? readAuthorities(undefined) : [await readFile(bundle, 'utf8')]
}
