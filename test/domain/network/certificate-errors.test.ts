import t from 'tap'
import { certificateError } from '../../../functions/domain/network/certificate-errors.ts'

// As OpenSSL's x509_vfy.h and Node's X509ErrorCode name them.
for (const [says, faults] of [
  [/has expired, or one above it has/, ['CERT_HAS_EXPIRED']],
  [/not valid yet, or one above it is not/, ['CERT_NOT_YET_VALID']],
  [/made for another name/, ['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH']],
  [
    /no trusted authority has signed; .* CA_FILE/,
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'CERT_SIGNATURE_FAILURE',
      'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
      'CERT_UNTRUSTED',
    ],
  ],
  [
    /not valid for a server, or one above it is not; .* replace it/,
    [
      'CERT_REJECTED',
      'CERT_CHAIN_TOO_LONG',
      'ERROR_IN_CERT_NOT_AFTER_FIELD',
      'ERROR_IN_CERT_NOT_BEFORE_FIELD',
      'INVALID_CA',
      'INVALID_PURPOSE',
      'PATH_LENGTH_EXCEEDED',
      'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
      'UNSPECIFIED',
    ],
  ],
  [/revoked/, ['CERT_REVOKED']],
] as const) {
  t.test(`what OpenSSL finds is reported: ${says.source}`, async (t) => {
    for (const fault of faults) t.match(certificateError({ fault }), says, fault)
  })
}

t.test('codes that are not about a certificate are left to others', async (t) => {
  for (const fault of ['', 'null', 'ECONNRESET', 'EPROTO', 'OUT_OF_MEM', 'toString'])
    t.equal(certificateError({ fault }), undefined, fault)
})
