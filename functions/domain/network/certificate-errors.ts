import { Failure } from '../failure.ts'

/** A certificate as the server showed it. */
export interface ShownCertificate {
  /** OpenSSL's name of what is wrong (verify(1)), or Node's for a wrong name. */
  readonly fault: string
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

const WRONG_NAME =
  'that was made for another name; use the name that the certificate holds, or have a new one made.'
const UNKNOWN_AUTHORITY =
  'that no trusted authority has signed; the operator adds its authority to CA_FILE, or the server has to send the intermediate certificates as well.'
const UNSOUND =
  'that is not valid for a server, or one above it is not; ask the operator of the server to replace it.'
const REVOKED = 'that its authority has revoked; ask the operator of the server to replace it.'

/**
 * The meaning of each error that does not depend on a date. Node knows these of OpenSSL's errors and returns UNSPECIFIED
 * for all others, such as a key that is too small. Those of revocation lists are left out: none is read.
 */
const MEANINGS: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: WRONG_NAME,
  HOSTNAME_MISMATCH: WRONG_NAME,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  // The trusted authority of that name has another key.
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_UNTRUSTED: UNKNOWN_AUTHORITY,
  CERT_REJECTED: UNSOUND,
  CERT_CHAIN_TOO_LONG: UNSOUND,
  ERROR_IN_CERT_NOT_AFTER_FIELD: UNSOUND,
  ERROR_IN_CERT_NOT_BEFORE_FIELD: UNSOUND,
  INVALID_CA: UNSOUND,
  INVALID_PURPOSE: UNSOUND,
  PATH_LENGTH_EXCEEDED: UNSOUND,
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: UNSOUND,
  UNSPECIFIED: UNSOUND,
  CERT_REVOKED: REVOKED,
  // Of functions/net/metered-tls.ts.
  ERR_TLS_HANDSHAKE_TOO_LONG:
    'in a handshake of more than 12 KiB, which is the limit; ask the operator of the server to send fewer certificates, or names of authorities.',
}

/** The Failure of who shows a certificate that is not trusted; undefined: the error is not about that. */
export function certificateFailure(
  who: string,
  shown: ShownCertificate,
  cause?: unknown,
): Failure | undefined {
  const complaint = certificateError(shown)
  if (complaint === undefined) return undefined
  return new Failure('TLSUntrusted', `${who} shows a certificate ${complaint}`, { cause })
}

/** What is wrong with a certificate, to follow "shows a certificate"; undefined: the error is not about that. */
export function certificateError({ fault, from, to }: ShownCertificate): string | undefined {
  if (fault === 'CERT_HAS_EXPIRED')
    return `that has expired${about('was valid until', to)}, or one above it has; ask the operator of the server to renew it.`
  if (fault === 'CERT_NOT_YET_VALID')
    return `that is not valid yet${about('begins on', from)}, or one above it is not; ask the operator of the server to fix it, or the clocks.`
  return Object.hasOwn(MEANINGS, fault) ? MEANINGS[fault] : undefined
}

function about(what: string, date: Date | undefined): string {
  return date === undefined ? '' : ` (the server's own ${what} ${date.toISOString().slice(0, 10)})`
}
