import { invalidSecret, requireType, shownKey, type SecretData } from '../credentials/secret-keys.ts'
import { Failure } from '../failure.ts'
import type { Signing } from '../spec/spec.ts'
import type { Signer } from './signer.ts'
import { signerOf } from './signing-key.ts'

/** The key of a Secret of type kubernetes.io/ssh-auth; for OpenPGP, admission demands that one is named. */
const USUAL_KEY = 'ssh-privatekey'

/**
 * Signs with the key in this Secret; the caller has checked that the Secret is allowed for the repository. `committer`:
 * the address in the commits, which the key has to belong to; undefined: that is not checked.
 * @throws Failure CredentialsInvalid if the type is not supported, or the key is missing, cannot be used or belongs to
 *   another address; within 5 ms
 */
export function secretSigner(signing: Signing, secret: SecretData, committer: string | undefined): Signer {
  requireType(secret)
  const name = signing.privateKeyKey ?? USUAL_KEY
  const shown = shownKey(name, 'privateKeyKey')
  const value = secret.data.get(name)
  if (value === undefined)
    throw invalidSecret(
      secret,
      `has no key ${shown}; add it, or name another with privateKeyKey in spec.signing.`,
    )
  const refuse = (complaint: string): Failure =>
    new Failure(
      'CredentialsInvalid',
      `The key ${shown} of the Secret ${secret.namespace}/${secret.name} ${complaint}.`,
    )
  return { ...signerOf(value, signing.format ?? 'ssh', { committer, refuse }), ofSecret: true }
}
