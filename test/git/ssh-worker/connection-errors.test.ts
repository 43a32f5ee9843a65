import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import {
  channelRefused,
  explainHandshake,
  explainLoss,
  explainViolation,
  noteOffer,
  unreachable,
  type SSHError,
} from '../../../functions/git/ssh-worker/connection-errors.ts'

const ADDRESS = parseRepositoryAddress('ssh://git@git.example.com:2222/acme/shop.git')
const VIOLATIONS = [
  'chatter',
  'second key exchange',
  'out of turn',
  'beyond the window',
  'tiny packets',
] as const
const MET = { address: ADDRESS, key: 'SHA256:abc (ssh-ed25519)', offers: [], first: '' }

function error(message: string, more: Partial<SSHError> = {}): SSHError {
  return Object.assign(new Error(message), more)
}

const HANDSHAKES: readonly (readonly [SSHError, string, RegExp])[] = [
  [
    error('All configured authentication methods failed', { level: 'client-authentication' }),
    'AuthenticationFailed',
    /key SHA256:abc .* for the user git/,
  ],
  [error('Too many authentication failures', { code: 2 }), 'AuthenticationFailed', /does not accept the key/],
  [error('No', { code: 14 }), 'AuthenticationFailed', /does not accept the key/],
  [error('Banned', { code: 1 }), 'NetworkError', /accepts no connection from the address of Commitlet/],
  [error('Too many connections', { code: 12 }), 'RateLimited', /fewer connections/],
  [
    error('Timed out while waiting for handshake', { level: 'client-timeout' }),
    'Timeout',
    /does not answer as an SSH server/,
  ],
  [
    error('Handshake failed: signature verification failed', { level: 'handshake' }),
    'HostKeyMismatch',
    /cannot prove/,
  ],
  [
    error('Wrong signature type: ssh-rsa, expected: rsa-sha2-512', { level: 'handshake' }),
    'HostKeyMismatch',
    /cannot prove/,
  ],
  [
    error('Handshake failed: no matching S->C compression', { level: 'handshake' }),
    'NotSupported',
    /only compressions .*\(\)/,
  ],
  [error('Connection lost before handshake', { level: 'protocol' }), 'NetworkError', /as an SSH server/],
  [
    error('read ECONNRESET', { level: 'client-socket', code: 'ECONNRESET' }),
    'NetworkError',
    /closed the connection/,
  ],
  [error('Goodbye', { code: 11 }), 'NetworkError', /closed the connection/],
]
for (const [met, reason, says] of HANDSHAKES) {
  t.test(`${met.message} is ${reason}`, async (t) => {
    const failure = explainHandshake(met, MET)
    t.match(failure, { reason, message: says })
    t.ok(failure.message.startsWith(`${ADDRESS.text} `))
    t.not(failure.retry, 'never')
  })
}

t.test('a connection that a limit has ended is tried again', async (t) => {
  for (const violation of VIOLATIONS) t.not(explainViolation(ADDRESS, violation).retry, 'never', violation)
})

t.test('the offers of a server are shown as names only, and a limited number', async (t) => {
  const offers = [`Handshake: (remote) KEX method: <b>evil\u001b[31m</b>,${'x,'.repeat(5_000)}`]
  const { message } = explainHandshake(error('Handshake failed: no matching key exchange algorithm'), {
    ...MET,
    offers,
  })
  t.match(message, /\(bevil31mb, x, x/)
  t.ok(message.length < 1_500)
})

t.test('of the trace only the offers are kept, a limited number and length', async (t) => {
  const offers: string[] = []
  noteOffer(offers, 'Handshake: (local) KEX method: x')
  t.same(offers, [])
  for (let i = 0; i < 100; i++) noteOffer(offers, `Handshake: (remote) KEX method: ${'x'.repeat(10_000)}`)
  t.equal(offers.length, 32)
  t.ok(offers.every(({ length }) => length === 400))
})

t.test('how a connection ends after the login', async (t) => {
  t.match(explainLoss(ADDRESS, error('Keepalive timeout', { level: 'client-timeout' })), {
    reason: 'Timeout',
  })
  t.match(explainLoss(ADDRESS, error('Enough', { code: 12 })), { reason: 'RateLimited' })
  t.match(explainLoss(ADDRESS, error('closed')), { reason: 'NetworkError' })
})

t.test('errors without a channel, and without a connection', async (t) => {
  t.match(channelRefused(ADDRESS, 'git-upload-pack', true), { reason: 'ProviderUnavailable' })
  t.match(channelRefused(ADDRESS, 'git-upload-pack', false), {
    reason: 'PermissionDenied',
    message: /run git-upload-pack/,
  })
  t.match(unreachable(ADDRESS, { code: 'ECONNREFUSED' }), {
    reason: 'NetworkError',
    message: /nothing accepts/,
  })
  t.match(unreachable(ADDRESS, { code: 'ETIMEDOUT' }), { reason: 'NetworkError', message: /nothing answers/ })
})
