import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { hostKeysFor, judgeHostKey } from '../../../functions/domain/network/host-keys.ts'
import { fingerprintOf, readKnownHosts } from '../../../functions/domain/network/known-hosts.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { failureOf } from '../fixtures/thrown.ts'

const [first, second, ecdsa] = [
  makeKey('-t', 'ed25519'),
  makeKey('-t', 'ed25519'),
  makeKey('-t', 'ecdsa'),
].map(({ publicKey }) => publicKey.split(' ').slice(0, 2).join(' '))
const HERE = parseRepositoryAddress('git@git.example.com:acme/shop.git')
const THERE = parseRepositoryAddress('ssh://git@git.example.com:2222/acme/shop.git')

function bytesOf(line = ''): Buffer {
  return Buffer.from(line.split(' ')[1] ?? '', 'base64')
}

/** The fingerprints that the public hosts show on their pages. */
const PUBLISHED: readonly (readonly [string, string])[] = [
  ['git@github.com:acme/shop.git', 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU'],
  ['ssh://git@ssh.github.com:443/acme/shop.git', 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU'],
  ['git@gitlab.com:acme/shop.git', 'SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8'],
  ['ssh://git@altssh.gitlab.com:443/acme/shop.git', 'SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8'],
  ['git@bitbucket.org:acme/shop.git', 'SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM'],
  ['git@ssh.bitbucket.org:acme/shop.git', 'SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM'],
  ['ssh://git@altssh.bitbucket.org:443/acme/shop.git', 'SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM'],
]
for (const [url, fingerprint] of PUBLISHED) {
  t.test(`${url} has the three keys that its host publishes`, async (t) => {
    const address = parseRepositoryAddress(url)
    const { known } = readKnownHosts(hostKeysFor(address, {}), address)
    t.same(
      known.map(({ type }) => type),
      ['ssh-ed25519', 'ecdsa-sha2-nistp256', 'ssh-rsa'],
    )
    t.equal(known[0] && fingerprintOf(known[0].bytes), fingerprint)
  })
}

t.test("the Secret's keys come before the operator's, and those before the published ones", async (t) => {
  const github = parseRepositoryAddress('git@github.com:acme/shop.git')
  const secret = `github.com ${first ?? ''}`
  const operator = `github.com ${second ?? ''}`
  t.equal(hostKeysFor(github, { secret, operator }), `${secret}\n`)
  t.equal(hostKeysFor(github, { secret: `gitlab.com ${first ?? ''}`, operator }), `${operator}\n`)
  t.match(
    hostKeysFor(github, { secret: '# nothing', operator: '' }),
    /OMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl/,
  )
})

t.test('a host has each key once, and 256 in a Secret at most', async (t) => {
  const invented = (count: number, marker = ''): string =>
    Array.from({ length: count }, (_, i) => {
      const key = Buffer.concat([bytesOf(first).subarray(0, 20), Buffer.from(`${i}`)])
      return `${marker}* ssh-ed25519 ${key.toString('base64')}\n`
    }).join('')
  t.equal(
    hostKeysFor(HERE, { secret: `* ${first ?? ''}\n`.repeat(2_000) }),
    `git.example.com ${first ?? ''}\n`,
  )
  t.equal(hostKeysFor(HERE, { secret: invented(256) }).split('\n').length, 257)
  const most = 'has 257 keys for git.example.com, and 256 are the most'
  t.match(
    failureOf(() => hostKeysFor(HERE, { secret: invented(257) })),
    { reason: 'CredentialsInvalid', message: most },
  )
  t.match(
    failureOf(() => hostKeysFor(HERE, { secret: `${invented(1)}${invented(256, '@revoked ')}` })),
    { message: most },
  )
  t.equal(hostKeysFor(HERE, { operator: invented(2_000) }).split('\n').length, 2_001, "the operator's")
})

t.test('what is revoked anywhere stays revoked', async (t) => {
  const secret = `git.example.com ${first ?? ''}`
  const operator = `@revoked * ${first ?? ''}`
  const lines = hostKeysFor(HERE, { secret, operator })
  t.match(judgeHostKey(bytesOf(first), HERE, lines), {
    reason: 'HostKeyMismatch',
    message: /marked as revoked/,
  })
  t.match(
    failureOf(() => hostKeysFor(HERE, { secret: operator })),
    { reason: 'HostKeyUnknown' },
  )
})

t.test('without an entry the host is unknown, and the sentence says how to get one', async (t) => {
  for (const [address, name, port] of [
    [HERE, /has git\.example\.com |key git\.example\.com has/, 22],
    [THERE, /\[git\.example\.com\]:2222/, 2222],
  ] as const) {
    const failure = failureOf(() => hostKeysFor(address, {}))
    t.match(failure, { reason: 'HostKeyUnknown', retry: 'slow', message: name })
    t.match(failure.message, `ssh-keyscan -p ${port} git.example.com`)
    t.match(failure.message, /knownHostsKey.*SSH_KNOWN_HOSTS/)
  }
})

t.test('a known key is accepted, another one is reported with both fingerprints', async (t) => {
  const lines = hostKeysFor(THERE, {
    secret: `[git.example.com]:2222 ${first ?? ''}\n[git.example.com]:2222 ${ecdsa ?? ''}`,
  })
  t.equal(judgeHostKey(bytesOf(first), THERE, lines), undefined)
  t.equal(judgeHostKey(bytesOf(ecdsa), THERE, lines), undefined)
  const failure = judgeHostKey(bytesOf(second), THERE, lines)
  t.match(failure, { reason: 'HostKeyMismatch', retry: 'slow' })
  for (const key of [first, second]) t.ok(failure?.message.includes(fingerprintOf(bytesOf(key))))
  t.notOk(
    failure?.message.includes(fingerprintOf(bytesOf(ecdsa))),
    'a key of another type has nothing to do with it',
  )
})

t.test('a key of a type that is not known is unknown, with its fingerprint', async (t) => {
  const lines = hostKeysFor(HERE, { operator: `git.example.com ${first ?? ''}` })
  const failure = judgeHostKey(bytesOf(ecdsa), HERE, lines)
  t.match(failure, { reason: 'HostKeyUnknown', message: /ecdsa-sha2-nistp256/ })
  t.ok(failure?.message.includes(fingerprintOf(bytesOf(ecdsa))))
  t.match(judgeHostKey(Buffer.from('?'), HERE, lines), { reason: 'HostKeyUnknown', message: /unknown type/ })
})
