import t from 'tap'
import { appIn } from '../../../functions/domain/credentials/app.ts'
import type { SecretData } from '../../../functions/domain/credentials/secret-keys.ts'
import { makeKey, openssl } from '../../harness/ssh-keys.ts'

const KEY = makeKey('-t', 'rsa', '-b', '2048', '-m', 'PEM').privateKey
const CREDENTIALS = {
  secretName: 'app',
  appIDKey: 'app-id',
  installationIDKey: 'installation-id',
  privateKeyKey: 'private-key',
}

function secretOf(values: Readonly<Record<string, string>>, type = 'Opaque'): SecretData {
  const stored = { 'app-id': '4711', 'installation-id': '81', 'private-key': KEY, ...values }
  const data = new Map(Object.entries(stored).map(([key, value]) => [key, Buffer.from(value)]))
  return { namespace: 'team', name: 'app', annotations: {}, type, data }
}

t.test('the parts of an App are trimmed, and its key is read in any form', async (t) => {
  const app = appIn(secretOf({ 'app-id': ' 4711\n', 'installation-id': '81\n' }), CREDENTIALS)
  t.match(app, { id: '4711', installation: '81', source: ['team', 'app'] })
  const pkcs8 = appIn(secretOf({ 'private-key': openssl(['pkcs8', '-topk8', '-nocrypt'], KEY) }), CREDENTIALS)
  t.equal(pkcs8.keyDigest, app.keyDigest, 'the same key')
  t.not(
    appIn(secretOf({ 'private-key': makeKey('-t', 'rsa', '-b', '2048').privateKey }), CREDENTIALS).keyDigest,
    app.keyDigest,
  )
  t.match(appIn(secretOf({ 'app-id': 'Iv23liAbCdEfGhIjKlMn' }), CREDENTIALS), { id: 'Iv23liAbCdEfGhIjKlMn' })
  const { secretName, appIDKey, privateKeyKey } = CREDENTIALS
  t.equal(appIn(secretOf({}), { secretName, appIDKey, privateKeyKey }).installation, undefined)
})

const NAMED = 'The key named by privateKeyKey of the Secret team/app '
const GENERATED = 'the RSA key that GitHub has generated for the App'

for (const [title, values, message] of [
  [
    'an ID that is none',
    { 'app-id': 'https://github.com/apps/x' },
    /^The key named by appIDKey of .* App ID/,
  ],
  ['an empty ID', { 'app-id': ' ' }, /has nothing in its key named by appIDKey/],
  [
    'a number that is none',
    { 'installation-id': '0x51' },
    /^The key named by installationIDKey of .* number/,
  ],
  [
    'no private key',
    { 'private-key': 'shop' },
    `${NAMED}does not hold a private key, but has to hold ${GENERATED}.`,
  ],
  [
    'a key of another type',
    { 'private-key': makeKey('-t', 'ed25519').privateKey },
    `${NAMED}holds a key of another type than RSA, but has to hold ${GENERATED}.`,
  ],
  [
    'a key that is too short',
    { 'private-key': openssl(['genrsa', '-traditional', '1024']) },
    `${NAMED}holds an RSA key of 1024 bits, but has to hold one of 2048 to 8192; put ${GENERATED} there.`,
  ],
  [
    'a key that takes long to sign',
    { 'private-key': openssl(['genrsa', '-traditional', '4104']) },
    `${NAMED}holds an RSA key of 4104 bits, but has to hold ${GENERATED}.`,
  ],
  ['a key that is cut off', { 'private-key': KEY.slice(0, 400) }, /is cut off or damaged/],
] as const) {
  t.test(`${title} is a sentence without the value`, async (t) => {
    const error = t.throws(() => appIn(secretOf(values), CREDENTIALS), {
      reason: 'CredentialsInvalid',
      message,
    })
    t.notMatch(String(error), /MII|BEGIN/)
  })
}

t.test('what is not there, and a Secret of another type', async (t) => {
  const { data, ...rest } = secretOf({})
  const without = (key: string) => ({ ...rest, data: new Map([...data].filter(([name]) => name !== key)) })
  t.throws(() => appIn(without('app-id'), CREDENTIALS), { message: /has no key named by appIDKey; add it/ })
  t.throws(() => appIn(without('private-key'), CREDENTIALS), {
    message: /has no key named by privateKeyKey; add it/,
  })
  t.throws(() => appIn(secretOf({}, 'helm.sh/release.v1'), CREDENTIALS), { message: /is of type "helm/ })
})

t.test('a key that would take OpenSSL minutes is refused at once', async (t) => {
  // A modulus of 16,000 bits, as PKCS#1.
  const integer = (bytes: number): Buffer =>
    Buffer.concat([Buffer.from([0x02, 0x82, bytes >> 8, bytes & 255, 1]), Buffer.alloc(bytes - 1, 7)])
  const body = Buffer.concat([
    Buffer.from([2, 1, 0]),
    ...[2000, 3, 2000, 1000, 1000, 1000, 1000, 1000].map((bytes) =>
      bytes === 3 ? Buffer.from([2, 3, 1, 0, 1]) : integer(bytes),
    ),
  ])
  const whole = Buffer.concat([Buffer.from([0x30, 0x82, body.length >> 8, body.length & 255]), body])
  const bomb = `-----BEGIN RSA PRIVATE KEY-----\n${whole.toString('base64')}\n-----END RSA PRIVATE KEY-----\n`
  const began = performance.now()
  t.throws(() => appIn(secretOf({ 'private-key': bomb }), CREDENTIALS), {
    message: /holds an RSA key of 1\d{4} bits/,
  })
  t.ok(performance.now() - began < 2_000)
})
