import t from 'tap'
import { hostFailure, proxyFailure, proxyRefusal } from '../../functions/http/connection-failures.ts'

const PLACE = 'git.example.com'

for (const [code, reason, host, proxy] of [
  [
    'ECONNREFUSED',
    'NetworkError',
    /nothing takes the connection at that host/,
    /nothing takes the connection at the proxy/,
  ],
  [
    'ENETUNREACH',
    'NetworkError',
    /nothing takes the connection at that host/,
    /nothing takes the connection at the proxy/,
  ],
  [
    'ECONNRESET',
    'NetworkError',
    /breaks the connection off at once/,
    /the proxy of HTTPS_PROXY breaks the connection off/,
  ],
  ['EPROTO', 'NetworkError', /TLS cannot be agreed on/, /does not speak as a proxy does/],
  [
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'NetworkError',
    /TLS cannot be agreed on/,
    /does not speak as a proxy does/,
  ],
  [
    'ETIMEDOUT',
    'Timeout',
    /did not take the connection in time/,
    /the proxy of HTTPS_PROXY did not answer in time/,
  ],
  [
    'ERR_SOCKET_CONNECTION_TIMEOUT',
    'Timeout',
    /did not take the connection in time/,
    /did not answer in time/,
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
  t.test(`${code} is told of a host and of a proxy`, async (t) => {
    const error = Object.assign(new Error('x'), { code })
    t.match(hostFailure(error, PLACE), { reason, message: host, cause: error })
    t.match(proxyFailure(error, PLACE), { reason, message: proxy, cause: error })
  })
}

t.test("of several addresses that fail, Node tells the first one's code", async (t) => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  t.match(hostFailure(error, PLACE), { reason: 'NetworkError', message: /nothing takes/ })
})

t.test('a proxy that refuses is told by its status', async (t) => {
  for (const [status, reason] of [
    [403, 'AddressForbidden'],
    [407, 'NetworkError'],
    [502, 'NetworkError'],
  ] as const)
    t.match(proxyRefusal(status, PLACE), { reason, message: new RegExp(`\\(${status}\\)`) })
})
