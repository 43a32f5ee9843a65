import { readFile } from 'node:fs/promises'
import { getCACertificates } from 'node:tls'
import { Failure } from '../domain/failure.ts'

/**
 * What certificates are checked by: PEM texts of the system's authorities, each once (or, where the system has none, of
 * those that Node brings), and the text of CA_FILE, where there is one.
 * @throws Failure Internal where CA_FILE cannot be read
 */
export async function readAuthorities(caFile: string | undefined): Promise<readonly string[]> {
  const own = caFile === undefined ? [] : [await readOwn(caFile)]
  // The same ones often lie in a file and in a folder.
  const system = new Set(getCACertificates('system'))
  const known = system.size > 0 ? [...system] : getCACertificates('bundled')
  return [...known, ...own]
}

async function readOwn(caFile: string): Promise<string> {
  return readFile(caFile, 'utf8').catch((cause: unknown) => {
    const message = 'The file that CA_FILE names cannot be read; the operator has to mend it.'
    throw new Failure('Internal', message, { cause })
  })
}
