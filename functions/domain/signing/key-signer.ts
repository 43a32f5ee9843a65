import type { FoundKey } from '../private-key/found-key.ts'
import { addressIn, WRONG, type KeyUse } from './key-use.ts'
import { isSlowKey } from './raw-signature.ts'
import { rememberLast, type Signer } from './signer.ts'
import { sshSignature } from './ssh-signature.ts'

/**
 * Signs with an SSH key that was found.
 * @throws Failure of `refuse` if it cannot be used, or its comment is an address and another than the committer's
 */
export function keySigner(found: FoundKey, { committer, refuse }: KeyUse): Signer {
  if ('complaint' in found) throw refuse(found.complaint)
  const owner = addressIn(found.comment ?? '')
  if (owner !== undefined && committer !== undefined && owner !== committer.toLowerCase())
    throw refuse(
      `belongs by its comment to another address than ${committer}, with which Commitlet commits (COMMIT_AUTHOR_EMAIL); take a key of that address, or change the comment (\`ssh-keygen -c -C "" -f FILE\`)`,
    )
  return rememberLast({
    isSlow: isSlowKey(found.key),
    sign: (commit) =>
      sshSignature(found.key, commit).catch(() => {
        // The message of OpenSSL may tell of the key.
        throw refuse(WRONG)
      }),
  })
}
