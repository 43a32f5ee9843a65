import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { PRIVATE_KEY, writeArmor } from '../../../functions/domain/openpgp/armor.ts'
import { findOpenPGPKey, isOpenPGP, type OpenPGPKey } from '../../../functions/domain/openpgp/find-key.ts'
import { readKeyPacket } from '../../../functions/domain/openpgp/key-packet.ts'
import { writeInteger } from '../../../functions/domain/openpgp/octets.ts'
import { PACKET } from '../../../functions/domain/openpgp/packets.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { huge, makeRSA, withoutPrime, type RSANumbers } from '../../harness/key-files.ts'
import {
  integers,
  keyFile,
  packet,
  rsaHalves,
  secretKey,
  statement,
  userID,
} from '../../harness/openpgp-writer.ts'

const RSA = makeRSA(2048)
const OTHER = makeRSA(2048)
/** Flags of a key: certifies, signs, encrypts. */
const [CERTIFIES, SIGNS, ENCRYPTS] = [0x01, 0x02, 0x0c]
const [POSITIVE, DIRECT, BINDING, REVOKED, SUBKEY_REVOKED] = [0x13, 0x1f, 0x18, 0x20, 0x28]

function rsaKey(numbers: RSANumbers = RSA, more: Partial<Parameters<typeof secretKey>[0]> = {}): Buffer {
  return secretKey({ ...rsaHalves(numbers), ...more })
}

function subkey(numbers: RSANumbers = OTHER, more: Partial<Parameters<typeof secretKey>[0]> = {}): Buffer {
  return rsaKey(numbers, { type: PACKET.secretSubkey, ...more })
}

function found(...packets: readonly Buffer[]): OpenPGPKey {
  const key = findOpenPGPKey(Buffer.from(keyFile(...packets)))
  if ('complaint' in key) throw new Error(key.complaint)
  return key
}

function complaint(text: string): string {
  const key = findOpenPGPKey(Buffer.from(text))
  return 'complaint' in key ? key.complaint : ''
}

/** Which of the RSA keys was chosen. */
function chosen(...packets: readonly Buffer[]): 'primary' | 'subkey' {
  const { n } = found(...packets).key.export({ format: 'jwk' })
  return BigInt(`0x${Buffer.from(n ?? '', 'base64url').toString('hex')}`) === RSA.n ? 'primary' : 'subkey'
}

t.test(
  'keys of RSA, of ed25519 in both forms, and on the curves of NIST are the ones that were written',
  async (t) => {
    const edwards = generateKeyPairSync('ed25519').privateKey
    const { d = '', x = '' } = edwards.export({ format: 'jwk' })
    const [seed, half] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]
    const legacy = Buffer.concat([
      Buffer.from('092b06010401da470f01', 'hex'),
      writeInteger(Buffer.concat([Buffer.from([0x40]), half])),
    ])
    const inBothForms = [
      secretKey({ algorithm: 22, publicHalf: legacy, secret: writeInteger(seed) }),
      secretKey({ algorithm: 27, publicHalf: half, secret: seed }),
    ]
    for (const one of inBothForms) t.ok(found(one).key.equals(edwards))
    const curve = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey
    const jwk = curve.export({ format: 'jwk' })
    const [secret, ...point] = [jwk.d, jwk.x, jwk.y].map((part = '') => Buffer.from(part, 'base64url'))
    const publicHalf = Buffer.concat([
      Buffer.from('052b81040022', 'hex'),
      writeInteger(Buffer.concat([Buffer.from([4]), ...point])),
    ])
    const written = secretKey({ algorithm: 19, publicHalf, secret: writeInteger(secret ?? Buffer.alloc(0)) })
    t.ok(found(written).key.equals(curve))
    const { key } = found(rsaKey())
    t.ok(key.equals(createPrivateKey(key.export({ type: 'pkcs1', format: 'pem' }))))
    t.equal(chosen(rsaKey()), 'primary')
  },
)

t.test('of a key with subkeys, the one that signs is taken, and of several the newest', async (t) => {
  const certifies = statement(POSITIVE, { flags: CERTIFIES })
  const signing = statement(BINDING, { flags: SIGNS })
  const encrypting = statement(BINDING, { flags: ENCRYPTS })
  t.equal(chosen(rsaKey(), certifies, subkey(), signing), 'subkey')
  t.equal(chosen(rsaKey(), subkey(), encrypting), 'primary')
  t.equal(chosen(rsaKey(), subkey(), signing, statement(SUBKEY_REVOKED)), 'primary')
  t.equal(
    chosen(
      rsaKey(),
      subkey(),
      statement(BINDING, { flags: SIGNS }),
      statement(BINDING, { flags: ENCRYPTS, made: 2 }),
    ),
    'primary',
  )
  const stranger = { issuer: Buffer.alloc(8, 7) }
  t.equal(chosen(rsaKey(), subkey(), signing, statement(SUBKEY_REVOKED, stranger)), 'subkey')
  const [old, recent] = [subkey(RSA, { made: 10 }), subkey(OTHER, { made: 20 })]
  const primary = rsaKey(makeRSA(2048))
  for (const order of [
    [old, signing, recent, signing],
    [recent, signing, old, signing],
  ])
    t.equal(found(primary, certifies, ...order).made, 20)
})

t.test('a key ends with itself or with what it is bound to, whichever is first', async (t) => {
  t.equal(found(rsaKey()).expires, Infinity)
  t.equal(found(rsaKey(), statement(POSITIVE, { lifetime: 99 })).expires, 100)
  t.equal(found(rsaKey(), statement(DIRECT, { lifetime: 49 })).expires, 50)
  const extended = [statement(POSITIVE, { lifetime: 99 }), statement(POSITIVE, { lifetime: 199, made: 2 })]
  t.equal(found(rsaKey(), ...extended).expires, 200)
  const binding = statement(BINDING, { flags: SIGNS, lifetime: 19 })
  t.equal(found(rsaKey(), subkey(), binding).expires, 20)
  t.equal(found(rsaKey(), statement(POSITIVE, { lifetime: 9 }), subkey(), binding).expires, 10)
})

t.test('user IDs are read, and lines may be indented and have any ends', async (t) => {
  const text = keyFile(rsaKey(), userID('Robot <robot@example.com>'), userID('ü'))
  for (const one of [
    text,
    text.replaceAll(/^/gm, '  '),
    text.replaceAll('\n', '\r\n'),
    text.replace('\n\n', '\nVersion: x\nComment:\n\n'),
  ])
    t.strictSame(found(rsaKey(), userID('Robot <robot@example.com>'), userID('ü')).userIDs, userIDsIn(one))
  t.ok(isOpenPGP(Buffer.from(`  ${text}`)))
  t.notOk(isOpenPGP(Buffer.from('-----BEGIN OPENSSH PRIVATE KEY-----')))
})

function userIDsIn(text: string): readonly string[] {
  const key = findOpenPGPKey(Buffer.from(text))
  return 'complaint' in key ? [key.complaint] : key.userIDs
}

const GNU_DUMMY = Buffer.from([0xff, 0, 101, 0, 0x47, 0x4e, 0x55, 1])
const halves = rsaHalves(RSA)
const wrong = Buffer.from(halves.secret)
wrong[100] = (wrong[100] ?? 0) ^ 1
const armored = keyFile(rsaKey())
const octets = Buffer.concat([rsaKey(), userID('Robot')])

const otherChecksum = Buffer.from(rsaKey())
otherChecksum[otherChecksum.length - 1] = (otherChecksum.at(-1) ?? 0) ^ 1
const longer = packet(PACKET.secretKey, rsaKey().subarray(6), Buffer.alloc(1))
/** A user ID whose first part has two octets; were it a length of two octets, that of all that follows. */
const inParts = Buffer.from([0xc0 | PACKET.userID, 0xe1, 0x61, 0x62, ...Buffer.alloc(8_736)])

const BAD: readonly (readonly [title: string, text: string, says: RegExp])[] = [
  ['a passphrase', keyFile(rsaKey(RSA, { protection: Buffer.from([254, 9, 3, 8]) })), /with a passphrase/],
  [
    'a passphrase by AEAD',
    keyFile(rsaKey(RSA, { protection: Buffer.from([253, 9, 2, 3, 8]) })),
    /with a passphrase/,
  ],
  ['a secret half elsewhere', keyFile(rsaKey(RSA, { protection: GNU_DUMMY })), /is not in it/],
  ['version 3', keyFile(rsaKey(RSA, { version: 3 })), /of version 3/],
  ['version 6', keyFile(rsaKey(RSA, { version: 6 })), /of version 6/],
  ['DSA', keyFile(rsaKey(RSA, { algorithm: 17 })), /algorithm that is not supported/],
  [
    'another curve',
    keyFile(
      secretKey({ algorithm: 22, publicHalf: Buffer.from('032b6571', 'hex'), secret: Buffer.alloc(9) }),
    ),
    /algorithm that is not supported/,
  ],
  [
    'a key that only certifies',
    keyFile(rsaKey(), statement(POSITIVE, { flags: CERTIFIES })),
    /not for signing/,
  ],
  ['a revoked key', keyFile(rsaKey(), statement(REVOKED)), /was revoked/],
  ['two keys', keyFile(rsaKey(), rsaKey(OTHER)), /several OpenPGP keys/],
  ['no key', keyFile(userID('Robot')), /cut off or damaged/],
  ['nothing', keyFile(), /cut off or damaged/],
  [
    'another secret half',
    keyFile(secretKey({ ...halves, secret: rsaHalves(OTHER).secret })),
    /cut off or damaged/,
  ],
  ['a damaged secret half', keyFile(secretKey({ ...halves, secret: wrong })), /cut off or damaged/],
  ['a short RSA key', keyFile(rsaKey(makeRSA(1024))), /RSA key of 1024 bits/],
  ['a large exponent', keyFile(rsaKey({ ...RSA, e: huge(65) })), /public exponent/],
  ['a cut armor', armored.slice(0, -30), /cut off or damaged/],
  ['no base64', armored.replace('\n\n', '\n\n!\n'), /cut off or damaged/],
  ['another checksum', keyFile(otherChecksum), /cut off or damaged/],
  ['octets after the checksum', keyFile(longer), /cut off or damaged/],
  ['a length in parts', keyFile(rsaKey(), inParts), /cut off or damaged/],
  ['an open length', writeArmor(PRIVATE_KEY, Buffer.from([0x97, 4])), /cut off or damaged/],
  ['a public key', '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx\n', /holds an OpenPGP public key/],
  [
    'an SSH key',
    '-----BEGIN OPENSSH PRIVATE KEY-----\n',
    /does not hold an OpenPGP private key.*format to ssh/,
  ],
  ['an empty text', '', /does not hold an OpenPGP private key/],
  ['a long text', 'x'.repeat(1_000_000), /more than 16384 bytes/],
  ['many packets', keyFile(rsaKey(), ...Array.from({ length: 1_500 }, () => packet(PACKET.userID))), /^$/],
]

/** What the slowest may take. */
const MOMENT_MS = allowedMs(1.5)

/** The least CPU time of a few, in milliseconds. */
function leastMs(work: () => unknown): number {
  work()
  const times = Array.from({ length: 5 }, () => {
    const began = cpuTime()
    work()
    return cpuTime() - began
  })
  return Math.min(...times)
}

for (const [title, text, says] of BAD)
  t.test(`${title}: one sentence, at once`, async (t) => {
    const ms = leastMs(() => complaint(text))
    t.ok(ms < MOMENT_MS, `${ms} ms`)
    t.match(complaint(text), says)
    t.notMatch(complaint(text), /BEGIN/)
  })

t.test('a huge OpenPGP key is refused at once', async (t) => {
  for (const bits of [8_193, 40_000]) {
    const text = keyFile(rsaKey({ ...RSA, n: huge(bits) }))
    t.match(complaint(text), /RSA key of \d+ bits/)
    t.ok(leastMs(() => complaint(text)) < MOMENT_MS)
  }
})

t.test('octets that are cut anywhere are no key', async (t) => {
  const whole = octets.length
  for (let end = 0; end < whole; end += 1)
    t.ok(
      complaint(writeArmor(PRIVATE_KEY, octets.subarray(0, end))) !== '' || end === rsaKey().length,
      String(end),
    )
})

t.test('an RSA key without a prime is read in a moment, and only its signature shows it', async (t) => {
  const text = keyFile(rsaKey(withoutPrime(RSA)))
  t.equal(complaint(text), '')
  t.ok(leastMs(() => complaint(text)) < MOMENT_MS)
})

t.test('the fingerprint is that of the public half (RFC 9580, section 5.5.4.2)', async (t) => {
  const body = rsaKey().subarray(6)
  const read = readKeyPacket(body)
  t.equal('complaint' in read ? 0 : read.fingerprint.length, 20)
  t.strictSame(integers(1n, 255n), Buffer.from('00010100 08ff'.replace(' ', ''), 'hex'))
})
