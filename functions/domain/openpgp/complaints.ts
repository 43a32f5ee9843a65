/** What a Secret has to hold. */
export const FORM =
  'one OpenPGP private key in armor, as `gpg --armor --export-secret-keys --export-options export-minimal ADDRESS` writes it'

const MAKE = 'create one with `gpg --quick-generate-key "Commitlet <ADDRESS>" ed25519 sign never`'

export const ENCRYPTED =
  'holds an OpenPGP key with a passphrase, which Commitlet cannot ask for; remove it (`gpg --change-passphrase ADDRESS`, with an empty one) and export the key again'

export const UNSUPPORTED = `holds an OpenPGP key of an algorithm that is not supported, but has to hold one of ed25519, ECDSA on a curve of NIST, or RSA; ${MAKE}`

export const REVOKED = `holds an OpenPGP key that was revoked; ${MAKE}`

export const ABSENT =
  'holds an OpenPGP key whose secret half is not in it, but elsewhere, such as on a card; export a key, or a subkey for signing, with its secret half'

export const SIGNS_NOTHING = `holds an OpenPGP key that is not for signing, and has no subkey that is; ${MAKE}`

export const SEVERAL = `holds several OpenPGP keys, but has to hold ${FORM}`

export const PUBLIC =
  'holds an OpenPGP public key, but has to hold the private one (`gpg --armor --export-secret-keys ADDRESS`)'

/** A key of another version of the format than 4. */
export function otherVersion(version: number): string {
  return `holds an OpenPGP key of version ${version}, but has to hold one of version 4, which Git hosts verify; ${MAKE}`
}
