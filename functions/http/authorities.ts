import { readFile } from 'node:fs/promises'
import { createSecureContext, getCACertificates } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { Failure } from '../domain/failure.ts'

/**
 * What certificates are checked by: the system's authorities (or, where the system has none, those that Node brings)
 * and those of CA_FILE, as Git trusts them. It takes some 60 ms, to read and to parse them: keep it.
 * @throws Failure Internal where CA_FILE cannot be read
 */
export async function readTrust(caFile: string | undefined): Promise<SecureContext> {
  const own = caFile === undefined ? [] : [await readOwn(caFile)]
  // The same ones often lie in a file and in a folder.
  const system = new Set(getCACertificates('system'))
  const known = system.size > 0 ? [...system] : getCACertificates('bundled')
  return createSecureContext({ ca: [...known, ...own] })
}

async function readOwn(caFile: string): Promise<string> {
  return readFile(caFile, 'utf8').catch((cause: unknown) => {
    const message = 'The file that CA_FILE names cannot be read; the operator has to mend it.'
    throw new Failure('Internal', message, { cause })
  })
}
