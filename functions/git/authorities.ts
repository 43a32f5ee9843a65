import { readFile, writeFile } from 'node:fs/promises'
import { getCACertificates } from 'node:tls'
import { Failure } from '../domain/failure.ts'

/**
 * Writes the bundle that git trusts when there is a CA_FILE: the system's authorities (or, where the system
 * has none, those that Node brings) and the file's own. Git takes one file only, and GIT_SSL_CAINFO beats
 * every other setting. Answers the bundle's path.
 * @throws Failure Internal where CA_FILE cannot be read
 */
export async function writeAuthorities(caFile: string, bundle: string): Promise<string> {
  const own = await readFile(caFile, 'utf8').catch((cause: unknown) => {
    throw new Failure(
      'Internal',
      'The file that CA_FILE names cannot be read; the operator has to mend it.',
      { cause },
    )
  })
  const known = new Set(systemAuthorities())
  await writeFile(bundle, [...known, own].map((pem) => `${pem.trim()}\n`).join(''), { mode: 0o600 })
  return bundle
}

/** PEM texts of the authorities that git trusts: those of the bundle; undefined: those of the system. */
export async function readAuthorities(bundle: string | undefined): Promise<readonly string[]> {
  return bundle === undefined ? systemAuthorities() : [await readFile(bundle, 'utf8')]
}

function systemAuthorities(): readonly string[] {
  const system = getCACertificates('system')
  return system.length > 0 ? system : getCACertificates('bundled')
}
