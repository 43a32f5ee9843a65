/** A certificate as it was shown. */
export interface ShownCertificate {
  /** OpenSSL's name of what is wrong (verify(1)), or Node's for a wrong name. */
  readonly fault: string
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

const AUTHORITY_FAULTS = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]
const UNKNOWN_AUTHORITY =
  'that no trusted authority has signed; the operator adds its authority to CA_FILE, or the server has to send the certificates in between as well.'

/** What is wrong with a certificate, after "shows a certificate"; undefined: its fault says nothing of that kind. */
export function certificateError({ fault, from, to }: ShownCertificate): string | undefined {
  if (fault === 'CERT_HAS_EXPIRED')
    return `that has expired${about('was valid until', to)}, or one above it has; whoever runs the server has to renew it.`
  if (fault === 'CERT_NOT_YET_VALID')
    return `that is not valid yet${about('begins on', from)}, or one above it is not; whoever runs the server has to mend it, or the clocks.`
  if (fault === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'that was made for another name; use the name that the certificate holds, or have it made anew.'
  return AUTHORITY_FAULTS.includes(fault) ? UNKNOWN_AUTHORITY : undefined
}

function about(what: string, date: Date | undefined): string {
  return date === undefined ? '' : ` (the server's own ${what} ${date.toISOString().slice(0, 10)})`
}
