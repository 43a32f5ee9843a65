import { readFile } from 'node:fs/promises'
import { getCACertificates } from 'node:tls'
import { Failure } from '../domain/failure.ts'

/**
 * PEM texts of the authorities that an API's certificate is checked by: the system's (or, where the system has none,
 * those that Node brings) and those of CA_FILE, as Git trusts them.
 * @throws Failure Internal where CA_FILE cannot be read
 */
export async function readTrusted(caFile: string | undefined): Promise<readonly string[]> {
  const system = getCACertificates('system')
  const known = system.length > 0 ? system : getCACertificates('bundled')
  if (caFile === undefined) return known
  const own = await readFile(caFile, 'utf8').catch((cause: unknown) => {
    const message = 'The file that CA_FILE names cannot be read; the operator has to mend it.'
    throw new Failure('Internal', message, { cause })
  })
  return [...known, own]
}
