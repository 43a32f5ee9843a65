import ssh2 from 'ssh2'
import t from 'tap'
import { readPrivateKey } from '../../../functions/domain/private-key/private-key.ts'
import { der, integer, oid, opensshKey, pem, pkcs8, sequence, signedBytes } from '../../harness/der-writer.ts'
import { DER_NULL, huge, makeRSA, nested, OID, pkcs1, sec1 } from '../../harness/key-files.ts'
import { BROKEN, rejects, UNSUPPORTED } from './rejects.ts'

const GOOD = makeRSA(2048)
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const large = huge(30_000)
const domain = sequence(integer(large), integer(3n), integer(large))
const secret = Buffer.alloc(32, 1)
const ROWS: readonly (readonly [title: string, text: string, says: RegExp])[] = [
  [
    'DSA with a prime of 30,000 bits',
    pem(
      'PRIVATE KEY',
      pkcs8(
        '2a8648ce380401',
        sequence(integer(large), integer(large / 7n), integer(3n)),
        integer(large - 3n),
      ),
    ),
    /holds a DSA key/,
  ],
  ['DSA of OpenSSH', opensshKey('ssh-dss', [5n, 7n, 3n, 4n, 2n].map(signedBytes)), /holds a DSA key/],
  ['DH', pem('PRIVATE KEY', pkcs8('2a864886f70d010301', domain, integer(large))), UNSUPPORTED],
  ['DH of X9.42', pem('PRIVATE KEY', pkcs8('2a8648ce3e0201', domain, integer(large))), UNSUPPORTED],
  ['RSA-PSS', pem('PRIVATE KEY', pkcs8('2a864886f70d01010a', DER_NULL, pkcs1(GOOD))), UNSUPPORTED],
  ['X25519', pem('PRIVATE KEY', pkcs8('2b656e', Buffer.alloc(0), der(4, secret))), UNSUPPORTED],
  ['Ed448', pem('PRIVATE KEY', pkcs8('2b6571', Buffer.alloc(0), der(4, Buffer.alloc(57, 1)))), UNSUPPORTED],
  ['another type of OpenSSH', opensshKey('ssh-ed448', [secret]), UNSUPPORTED],
  ['another label', pem('ANY PRIVATE KEY', pkcs1(GOOD)), UNSUPPORTED],
  [
    'a third prime',
    pem('RSA PRIVATE KEY', pkcs1(GOOD, 1n, sequence(sequence(integer(3n), integer(1n), integer(1n))))),
    UNSUPPORTED,
  ],
  ['a third prime without saying so', pem('RSA PRIVATE KEY', pkcs1(GOOD, 0n, sequence(integer(3n)))), BROKEN],
  ['a version that is not known', pem('RSA PRIVATE KEY', pkcs1(GOOD, 2n)), BROKEN],
  ['another curve', pem('PRIVATE KEY', pkcs8(OID.ecdsa, oid('2b8104000a'), sec1(secret))), UNSUPPORTED],
  [
    'another curve in SEC1',
    pem('EC PRIVATE KEY', sec1(secret, { curve: '2b240303020801010b' })),
    UNSUPPORTED,
  ],
  ['another curve of OpenSSH', opensshKey('ecdsa-sha2-nistk163', ['nistk163', secret, secret]), UNSUPPORTED],
  ['no curve', pem('EC PRIVATE KEY', sec1(secret)), UNSUPPORTED],
  ['a curve of its own', pem('PRIVATE KEY', pkcs8(OID.ecdsa, domain, sec1(secret))), /describes its curve/],
  [
    'a curve of its own in SEC1',
    pem('EC PRIVATE KEY', sequence(integer(1n), der(4, secret), der(0xa0, domain))),
    /describes its curve/,
  ],
  [
    'two curves',
    pem('PRIVATE KEY', pkcs8(OID.ecdsa, oid(OID.p521), sec1(secret, { curve: OID.p256 }))),
    BROKEN,
  ],
  [
    'a private key of 9,000 bytes on a curve',
    pem('EC PRIVATE KEY', sec1(Buffer.alloc(9000, 1), { curve: OID.p256 })),
    BROKEN,
  ],
  [
    'a private key of zero on a curve',
    pem('EC PRIVATE KEY', sec1(Buffer.alloc(32), { curve: OID.p256 })),
    BROKEN,
  ],
  [
    'a private key above the order of the curve',
    pem('EC PRIVATE KEY', sec1(signedBytes(P256_ORDER + 5n).subarray(1), { curve: OID.p256 })),
    BROKEN,
  ],
  [
    'a point of another key',
    pem('EC PRIVATE KEY', sec1(secret, { curve: OID.p256, point: Buffer.alloc(65, 4) })),
    BROKEN,
  ],
  [
    'a point that is none, of OpenSSH',
    opensshKey('ecdsa-sha2-nistp256', ['nistp256', Buffer.alloc(65, 4), secret]),
    BROKEN,
  ],
  [
    'the name of another curve, of OpenSSH',
    opensshKey('ecdsa-sha2-nistp256', ['nistp384', Buffer.alloc(65, 4), secret]),
    BROKEN,
  ],
  [
    'a seed of 31 bytes',
    pem('PRIVATE KEY', pkcs8(OID.ed25519, Buffer.alloc(0), der(4, secret.subarray(1)))),
    BROKEN,
  ],
  [
    'a seed of 9,000 bytes',
    pem('PRIVATE KEY', pkcs8(OID.ed25519, Buffer.alloc(0), der(4, Buffer.alloc(9000)))),
    BROKEN,
  ],
  ['parameters where there are none', pem('PRIVATE KEY', pkcs8(OID.ed25519, domain, der(4, secret))), BROKEN],
  ['an algorithm that is cut', pem('PRIVATE KEY', sequence(integer(0n), sequence())), BROKEN],
  ['something after the key', pem('RSA PRIVATE KEY', Buffer.concat([pkcs1(GOOD), DER_NULL])), BROKEN],
  [
    'something after the key inside',
    pem(
      'PRIVATE KEY',
      sequence(integer(0n), sequence(oid(OID.rsa), DER_NULL), der(4, pkcs1(GOOD)), DER_NULL),
    ),
    BROKEN,
  ],
  [
    'an indefinite length',
    pem(
      'RSA PRIVATE KEY',
      Buffer.concat([Buffer.from([0x30, 0x80]), pkcs1(GOOD).subarray(4), Buffer.alloc(2)]),
    ),
    BROKEN,
  ],
  [
    'a negative modulus',
    pem('RSA PRIVATE KEY', sequence(integer(0n), der(2, Buffer.alloc(256, 255)))),
    BROKEN,
  ],
  ['nothing but sequences', pem('PRIVATE KEY', nested(3000)), BROKEN],
  ['a base64 that is none', '-----BEGIN PRIVATE KEY-----\nMIIE!\n-----END PRIVATE KEY-----\n', BROKEN],
]

for (const [title, text, says] of ROWS) rejects(title, text, says)

for (const [title, text] of [
  ['without a public half', pem('EC PRIVATE KEY', sec1(secret, { curve: OID.p256 }))],
  ['as short as its number', pem('EC PRIVATE KEY', sec1(Buffer.from([7]), { curve: OID.p521 }))],
  ['with the curve outside only', pem('PRIVATE KEY', pkcs8(OID.ecdsa, oid(OID.p256), sec1(secret)))],
  [
    'with attributes and a copy of its public half',
    pem(
      'PRIVATE KEY',
      sequence(
        integer(1n),
        sequence(oid(OID.ed25519)),
        der(4, der(4, secret)),
        der(0xa0, nested(30)),
        der(0x81, Buffer.alloc(33)),
      ),
    ),
  ],
] as const) {
  t.test(`a key ${title} is taken, and ssh2 signs with it`, async (t) => {
    const key = ssh2.utils.parseKey(readPrivateKey(Buffer.from(text), { secret: 'a/b', key: 'c' }))
    if (key instanceof Error) throw key
    t.equal(key.verify('data', key.sign('data')), true)
  })
}
