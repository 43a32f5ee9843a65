import { findOpenPGPKey, isOpenPGP } from '../openpgp/find-key.ts'
import { findKey } from '../private-key/private-key.ts'
import type { Signing } from '../spec/spec.ts'
import { keySigner } from './key-signer.ts'
import type { KeyUse } from './key-use.ts'
import { openPGPSigner } from './openpgp-signer.ts'
import type { Signer } from './signer.ts'

/** The formats of signatures. */
export type SigningFormat = NonNullable<Signing['format']>

const OTHER_FORMAT =
  'holds an OpenPGP key, but has to hold one for SSH; for the OpenPGP key, set spec.signing.format to openpgp'

/**
 * Signs in this format with the private key that the value is.
 * @throws Failure of `refuse` if it is none for the format, cannot be used or belongs to another address; within 5 ms
 */
export function signerOf(value: Uint8Array, format: SigningFormat, use: KeyUse): Signer {
  if (format === 'openpgp') return openPGPSigner(findOpenPGPKey(value), use)
  if (isOpenPGP(value)) throw use.refuse(OTHER_FORMAT)
  return keySigner(findKey(value), use)
}

/** The format of the signatures of the operator's key, which its text tells. */
export function formatOf(value: Uint8Array): SigningFormat {
  return isOpenPGP(value) ? 'openpgp' : 'ssh'
}
