import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { readAuthorities } from '../net/authorities.ts'

/**
 * What certificates are checked by, as Git does: see net/authorities.ts. It takes some 60 ms, to read and to parse
 * them: keep it.
 * @throws Failure Internal where CA_FILE cannot be read
 */
export async function readTrust(caFile: string | undefined): Promise<SecureContext> {
  return createSecureContext({ ca: [...(await readAuthorities(caFile))] })
}
