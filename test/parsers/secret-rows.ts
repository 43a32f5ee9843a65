import { holdsSecret, redact, unitedSecrets, withoutUser } from '../../functions/domain/redact.ts'
import { readKnownHosts } from '../../functions/domain/network/known-hosts.ts'
import { valuesOf, lineIn } from '../../functions/domain/credentials/secret-values.ts'
import { readPrivateKey } from '../../functions/domain/private-key/private-key.ts'
import { huge, makeRSA, nested, OID, pkcs1, rsaFiles, sec1, DER_NULL } from '../harness/key-files.ts'
import { der, integer, opensshKey, pem, pkcs8, sequence, signedBytes } from '../harness/der-writer.ts'
import { textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const KIBI = 1024
const HOST = { host: `${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(63)}.${'a'.repeat(60)}`, port: 22 }
const PLACE = { secret: 'shop/git', key: 'key' }

function secretOf(values: readonly string[]) {
  const data = new Map(values.map((value, i) => [`k${i}`, Buffer.from(value)] as const))
  return { namespace: 'shop', name: 'git', annotations: {}, type: 'Opaque', data }
}

function distinct(count: number, length: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => String(i).padStart(length, 'x'))
}

/** What a Secret holds, and what is compared with it. */
export const SECRET_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'private key (text)',
    largest: 16 * KIBI,
    read: (text) => readPrivateKey(Buffer.from(text), PLACE),
    texts: {
      'keys that do not end': ['', '-----BEGIN PRIVATE KEY-----\n', ''],
      'a long label': ['-----BEGIN ', 'A ', 'PRIVATE KEY-----'],
      'empty lines': ['-----BEGIN PRIVATE KEY-----\n', '\n', '!\n-----END PRIVATE KEY-----'],
      headers: ['-----BEGIN RSA PRIVATE KEY-----\n', 'Proc-Type: 4', '\n-----END RSA PRIVATE KEY-----'],
      'a public key': ['ssh-', 'a-cert-v01', ' AAAA'],
      base64: ['', 'LS0tLS1CRUdJTiA', ''],
      blanks: ['', ' ', 'a'],
    },
  }),
  {
    parser: 'private key (DER, OpenSSH)',
    largest: 12 * KIBI,
    shapes: {
      'sequences in each other': (size) => reads(pem('PRIVATE KEY', nested(size / 4))),
      'a large modulus': (size) =>
        reads(
          pem('RSA PRIVATE KEY', sequence(...Array.from({ length: 9 }, () => integer(huge(size * 0.9))))),
        ),
      DSA: (size) =>
        reads(
          pem(
            'PRIVATE KEY',
            pkcs8(
              '2a8648ce380401',
              sequence(integer(huge(size * 3)), integer(huge(size * 3))),
              integer(huge(size)),
            ),
          ),
        ),
      'a long private key on a curve': (size) =>
        reads(pem('EC PRIVATE KEY', sec1(Buffer.alloc(size, 1), { curve: OID.p521 }))),
      'OpenSSH with a large exponent': (size) =>
        reads(opensshKey('ssh-rsa', [GOOD.n, GOOD.e, huge(size * 8), 1n, 3n, huge(1024)].map(signedBytes))),
      'many attributes': (size) =>
        reads(pem('PRIVATE KEY', sequence(integer(0n), sequence(), der(4, Buffer.alloc(size))))),
      'a key with 8,192 bits': () => reads(rsaFiles(LONGEST)[0]?.[1] ?? ''),
      'in PKCS#8': () => reads(pem('PRIVATE KEY', pkcs8(OID.rsa, DER_NULL, pkcs1(LONGEST)))),
      'on P-521': () => reads(pem('EC PRIVATE KEY', sec1(Buffer.alloc(65, 1), { curve: OID.p521 }))),
    },
  },
  textRow({
    parser: 'known_hosts',
    largest: 64 * KIBI,
    read: (text) => readKnownHosts(text, HOST),
    texts: {
      lines: ['', 'a ssh-rsa AAAA\n', ''],
      'empty lines': ['', '\n', ''],
      'hashed names': ['', '|1||,', 'a ssh-rsa AAAA'],
      'stars and letters': ['', '*a', 'b ssh-rsa AAAA'],
      'patterns of stars': ['', `*${'a'.repeat(125)}b,`, 'a ssh-rsa AAAA'],
      'negated patterns': ['', `!*${'a'.repeat(60)}b,`, 'a ssh-rsa AAAA'],
      'question marks': ['', '?', ' ssh-rsa AAAA'],
      blanks: ['a', ' ', 'ssh-rsa AAAA'],
      keys: ['', `${HOST.host} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA==\n`, ''],
      'one long key': [`${HOST.host} ssh-rsa AAAAB3NzaC1yc2E`, 'AAAA', ''],
    },
  }),
  {
    parser: 'values of a Secret that are masked',
    largest: 1024 * KIBI,
    shapes: {
      lines: (size) => {
        const secret = secretOf(distinct(size / 65_000, 65_000).map((text) => text.replace(/.{16}/g, '$&\n')))
        return () => valuesOf(secret)
      },
      'many values': (size) => {
        const secret = secretOf(distinct(size / 8, 8))
        return () => unitedSecrets([valuesOf(secret), valuesOf(secret)])
      },
      'a token of many values': (size) => {
        const secret = secretOf([' '.repeat(Math.min(size, 8000)), 'x'])
        return () => lineIn(secret, 'k0', 'tokenKey')
      },
    },
  },
  {
    parser: 'text of a host, with the values of a Secret masked',
    largest: 64 * KIBI,
    shapes: {
      'the most values': (size) => {
        const secrets = distinct(1024, 60)
        const text = 'x'.repeat(size)
        return () => redact(text, secrets)
      },
      'values that nearly occur': (size) => {
        const secrets = distinct(1024, 60)
        const text = `${'x'.repeat(57)}y`.repeat(size / 58)
        return () => redact(text, secrets)
      },
      'values with signs': (size) => {
        const secrets = distinct(1000, 4).map((text) => `%&"é${text}`)
        const text = '%26'.repeat(size / 3)
        return () => redact(text, secrets)
      },
      'the most values, and text that is encoded twice': (size) => {
        const secrets = distinct(1024, 60)
        const text = `${'%2578'.repeat(57)}y`.repeat(size / (57 * 5 + 1))
        return () => redact(text, secrets)
      },
      'values of one letter each, and entities': (size) => {
        const secrets = ['x'.repeat(8), ...distinct(1000, 60)]
        const text = '&amp;#x78; '.repeat(size / 11)
        return () => redact(text, secrets)
      },
      'one value of one letter': (size) => {
        const text = 'x'.repeat(size)
        return () => redact(text, ['x'])
      },
      'one long value': (size) => {
        const secrets = ['%é'.repeat(16_000)]
        const text = 'x%'.repeat(size)
        return () => redact(text, secrets)
      },
    },
  },
  textRow({
    parser: 'text of a host, with few values masked',
    largest: 4 * KIBI * KIBI,
    read: (text) => redact(text, ['a-secret-value', 'another']),
    texts: {
      'escape sequences': ['', '\u001b[', ''],
      'long sequences': ['\u001b[', '0', ''],
      'titles of windows': ['', '\u001b]', 'x'],
      'one title': ['\u001b]', 'a', ''],
      blanks: ['', ' ', 'a'],
      'control characters': ['', '\u0000', 'a'],
      letters: ['', '😀', ''],
      percent: ['', '%41', ''],
      'cut percent': ['', '%e2%80', ''],
      entities: ['', '&amp;', ''],
      'cut entities': ['', '&#000000', ''],
      escapes: ['', '\\u0041', ''],
      backslashes: ['', '\\', ''],
    },
  }),
  textRow({
    parser: 'address of a pull request, searched for the token',
    largest: 8 * KIBI,
    read: (address) => holdsSecret(address, ['a-secret-value'.repeat(500), `${'b'.repeat(8000)}:c`]),
    texts: {
      percent: ['https://a/', '%61', ''],
      letters: ['https://a/', 'b', ''],
      mixed: ['https://a/', '%6', ''],
      twice: ['https://a/', '%2561', ''],
      entities: ['https://a/', '&#x61;', ''],
    },
  }),
  textRow({
    parser: 'an entry that is shown without its user',
    largest: 256 * KIBI,
    read: withoutUser,
    texts: { users: ['', 'a@', ''], letters: ['', 'a', ''] },
  }),
]

const GOOD = makeRSA(2048)
const LONGEST = makeRSA(4096)

function reads(text: string): () => unknown {
  return () => readPrivateKey(Buffer.from(text), PLACE)
}
