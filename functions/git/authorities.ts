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
  const system = getCACertificates('system')
  const known = new Set(system.length > 0 ? system : getCACertificates('bundled'))
  await writeFile(bundle, [...known, own].map((pem) => `${pem.trim()}\n`).join(''), { mode: 0o600 })
  return bundle
}
