import t from 'tap'
import { hostFailure, proxyFailure, proxyRefusal } from '../../functions/http/connection-failures.ts'

const PLACE = 'git.example.com'

for (const [code, reason, host, proxy] of [
  [
    'ECONNREFUSED',
    'NetworkError',
    /nothing accepts the connection at that host/,
    /nothing accepts the connection at the proxy/,
  ],
  [
    'ENETUNREACH',
    'NetworkError',
    /nothing accepts the connection at that host/,
    /nothing accepts the connection at the proxy/,
  ],
  [
    'ECONNRESET',
    'NetworkError',
    /closes the connection at once/,
    /the proxy of HTTPS_PROXY closes the connection/,
  ],
  ['EPROTO', 'NetworkError', /the TLS handshake failed/, /does not answer as a proxy/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'NetworkError', /the TLS handshake failed/, /does not answer as a proxy/],
  [
    'ETIMEDOUT',
    'Timeout',
    /did not accept the connection in time/,
    /the proxy of HTTPS_PROXY did not answer in time/,
  ],
  [
    'ERR_SOCKET_CONNECTION_TIMEOUT',
    'Timeout',
    /did not accept the connection in time/,
    /did not answer in time/,
  ],
  [
    'ERR_TLS_HANDSHAKE_TOO_LONG',
    'TLSUntrusted',
    /^git\.example\.com shows a certificate in a handshake of more than 12 KiB/,
    /the proxy of HTTPS_PROXY shows a certificate in a handshake of more than 12 KiB/,
  ],
  [
    'CERT_HAS_EXPIRED',
    'TLSUntrusted',
    /^git\.example\.com shows a certificate that has expired/,
    /the proxy of HTTPS_PROXY shows a certificate that has expired/,
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'TLSUntrusted',
    /^git\.example\.com shows a certificate that was made/,
    /the proxy of HTTPS_PROXY shows/,
  ],
] as const) {
  t.test(`${code} is reported for a host and for a proxy`, async (t) => {
    const error = Object.assign(new Error('x'), { code })
    t.match(hostFailure(error, PLACE), { reason, message: host, cause: error })
    t.match(proxyFailure(error, PLACE), { reason, message: proxy, cause: error })
  })
}

t.test('of several addresses that fail, Node reports the code of the first one', async (t) => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  t.match(hostFailure(error, PLACE), { reason: 'NetworkError', message: /nothing accepts/ })
})

t.test('a proxy that refuses is reported with its status', async (t) => {
  for (const [status, reason] of [
    [403, 'AddressForbidden'],
    [407, 'NetworkError'],
    [502, 'NetworkError'],
  ] as const)
    t.match(proxyRefusal(status, PLACE), { reason, message: new RegExp(`\\(${status}\\)`) })
})
