import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { followAuthorities } from '../net/authorities.ts'
import type { Broken } from '../net/authorities.ts'

/**
 * What certificates are checked by, as Git does: see net/authorities.ts. To read and to parse them takes some 60 ms,
 * which is done once, and again when CA_FILE changes.
 * @throws Failure Internal where CA_FILE could not be used yet
 */
export function followTrust(caFile: string | undefined, broken?: Broken): () => Promise<SecureContext> {
  const authorities = followAuthorities(caFile, broken)
  let made: { readonly of: readonly string[]; readonly trust: SecureContext } | undefined
  return async function trust() {
    const of = await authorities()
    if (made?.of !== of) made = { of, trust: createSecureContext({ ca: [...of] }) }
    return made.trust
  }
}
