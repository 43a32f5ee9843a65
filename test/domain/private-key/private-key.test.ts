import ssh2 from 'ssh2'
import t from 'tap'
import { writeEd25519 } from '../../../functions/domain/private-key/ed25519-key.ts'
import { readPrivateKey } from '../../../functions/domain/private-key/private-key.ts'
import { makeKey, openssl, rewriteKey } from '../../harness/ssh-keys.ts'
import { failureOf } from '../fixtures/thrown.ts'

const PLACE = { secret: 'shop/git', key: '"ssh-privatekey"' }
const ED25519 = makeKey('-t', 'ed25519')
const RSA = makeKey('-t', 'rsa', '-b', '2048')
const P256 = makeKey('-t', 'ecdsa', '-b', '256')

const pkcs8 = {
  ed25519: openssl(['genpkey', '-algorithm', 'ed25519']),
  rsa: openssl(['genpkey', '-algorithm', 'rsa', '-pkeyopt', 'rsa_keygen_bits:2048']),
  p384: openssl(['genpkey', '-algorithm', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384']),
}

const GOOD: readonly (readonly [string, string, string])[] = [
  ['ed25519 of OpenSSH', ED25519.privateKey, 'ssh-ed25519'],
  ['RSA of OpenSSH', RSA.privateKey, 'ssh-rsa'],
  ['ECDSA 256 of OpenSSH', P256.privateKey, 'ecdsa-sha2-nistp256'],
  ['ECDSA 384 of OpenSSH', makeKey('-t', 'ecdsa', '-b', '384').privateKey, 'ecdsa-sha2-nistp384'],
  ['ECDSA 521 of OpenSSH', makeKey('-t', 'ecdsa', '-b', '521').privateKey, 'ecdsa-sha2-nistp521'],
  ['RSA as PKCS#1', rewriteKey(RSA.privateKey, '-m', 'PEM'), 'ssh-rsa'],
  ['ECDSA as SEC1', rewriteKey(P256.privateKey, '-m', 'PEM'), 'ecdsa-sha2-nistp256'],
  [
    'ECDSA as SEC1 with its parameters in front',
    openssl(['ecparam', '-genkey', '-name', 'secp521r1']),
    'ecdsa-sha2-nistp521',
  ],
  ['ed25519 as PKCS#8', pkcs8.ed25519, 'ssh-ed25519'],
  ['RSA as PKCS#8', pkcs8.rsa, 'ssh-rsa'],
  ['ECDSA as PKCS#8', pkcs8.p384, 'ecdsa-sha2-nistp384'],
  ['with the line ends of Windows', ED25519.privateKey.replaceAll('\n', '\r\n'), 'ssh-ed25519'],
  ['with the line ends of an old Mac', ED25519.privateKey.replaceAll('\n', '\r'), 'ssh-ed25519'],
  ['without a final newline', RSA.privateKey.trimEnd(), 'ssh-rsa'],
  ['indented', ED25519.privateKey.replaceAll(/^/gm, '    '), 'ssh-ed25519'],
  ['indented, as PKCS#8', pkcs8.rsa.replaceAll(/^/gm, '\t'), 'ssh-rsa'],
  ['with empty lines and a byte order mark', `\ufeff\n\n${ED25519.privateKey}\n\n`, 'ssh-ed25519'],
]

for (const [form, text, type] of GOOD) {
  t.test(`${form}: the key is read, and ssh2 accepts the result`, async (t) => {
    const read = readPrivateKey(Buffer.from(text), PLACE)
    t.ok(read.endsWith('-----\n'))
    t.notMatch(read, /\r|^[ \t]/m)
    const parsed = ssh2.utils.parseKey(read)
    if (parsed instanceof Error) throw parsed
    t.equal(parsed.type, type)
    t.ok(parsed.isPrivateKey())
    t.equal(parsed.verify('data', parsed.sign('data')), true)
    t.equal(readPrivateKey(Buffer.from(read), PLACE), read, 'and it stays as it is')
  })
}

t.test('the key that comes out is the key that went in', async (t) => {
  for (const { privateKey, publicKey } of [ED25519, RSA, P256]) {
    const parsed = ssh2.utils.parseKey(readPrivateKey(Buffer.from(privateKey), PLACE))
    if (parsed instanceof Error) throw parsed
    t.equal(parsed.getPublicSSH().toString('base64'), publicKey.split(' ')[1])
  }
})

const AES = ['-aes256', '-passout', 'pass:secret']
const other = makeKey('-t', 'ed25519').privateKey
// In the private exponent, behind both copies of the modulus.
const damaged = Buffer.from(bodyOf(RSA.privateKey), 'base64')
damaged.writeUInt32BE((damaged.readUInt32BE(760) ^ 0x5a5a5a5a) >>> 0, 760)
const wrongHalf = writeEd25519(Buffer.alloc(32, 1), Buffer.alloc(32, 2))
const security = Buffer.from(bodyOf(ED25519.privateKey), 'base64')
  .toString('latin1')
  .replace('ssh-ed25519', 'sk-ed25519@')
  .replace('ssh-ed25519', 'sk-ed25519@')

const BAD: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ['encrypted, of OpenSSH', rewriteKey(ED25519.privateKey, '-N', 'passphrase'), /with a passphrase/],
  [
    'encrypted, of OpenSSH by chacha20',
    rewriteKey(ED25519.privateKey, '-N', 'passphrase', '-Z', 'chacha20-poly1305@openssh.com'),
    /with a passphrase/,
  ],
  ['encrypted, as PKCS#1', rewriteKey(RSA.privateKey, '-N', 'passphrase', '-m', 'PEM'), /with a passphrase/],
  ['encrypted, as PKCS#8', openssl(['pkcs8', '-topk8', ...AES.slice(1)], pkcs8.rsa), /with a passphrase/],
  ['the public half', ED25519.publicKey, /holds a public key,/],
  ['the public half, as PEM', openssl(['pkey', '-pubout'], pkcs8.rsa), /holds a public key,/],
  ['a key of PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n', /PuTTY/],
  ['a certificate of SSH', `ssh-ed25519-cert-v01@openssh.com AAAA me`, /certificate/],
  [
    'DSA, as PKCS#8',
    openssl(['pkcs8', '-topk8', '-nocrypt'], openssl(['dsaparam', '-genkey', '1024'])),
    /DSA/,
  ],
  ['DSA, as PEM', '-----BEGIN DSA PRIVATE KEY-----\nAAAA\n-----END DSA PRIVATE KEY-----\n', /DSA/],
  ['a security key', armour(Buffer.from(security, 'latin1')), /security key/],
  [
    'a type that SSH does not support',
    openssl(['genpkey', '-algorithm', 'ed448']),
    /a type that SSH does not support/,
  ],
  [
    'a curve that SSH does not know',
    openssl(['ecparam', '-genkey', '-name', 'secp256k1']),
    /a type that SSH does not support/,
  ],
  ['RSA of 1024 bits', makeKey('-t', 'rsa', '-b', '1024').privateKey, /1024 bits/],
  ['nothing', ' \n', /is empty/],
  ['some text', 'hunter2', /does not hold a private key/],
  ['base64 twice', Buffer.from(ED25519.privateKey).toString('base64'), /base64 twice/],
  ['too much', Buffer.alloc(20_000, 'A'), /more than 16384 bytes/],
  ['cut before its end', ED25519.privateKey.slice(0, -60), /cut off or damaged/],
  ['cut in the middle', ED25519.privateKey.replace(/\n.{70}(?=\n)/, ''), /cut off or damaged/],
  ['cut in the middle, RSA', RSA.privateKey.replace(/(?:\n.{70}){3}(?=\n)/, ''), /cut off or damaged/],
  ['cut in the middle, as PKCS#8', pkcs8.rsa.replace(/\n.{64}(?=\n)/, ''), /cut off or damaged/],
  ['damaged', armour(damaged), /cut off or damaged/],
  ['of two halves that are not one key', wrongHalf, /cut off or damaged/],
  ['no OpenSSH key inside', armour(Buffer.from('something else altogether')), /cut off or damaged/],
]

for (const [form, value, says] of BAD) {
  t.test(`${form}: the sentence says so, and shows nothing of the key`, async (t) => {
    const failure = failureOf(() => readPrivateKey(Buffer.from(value), PLACE))
    t.match(failure, { reason: 'CredentialsInvalid', retry: 'slow' })
    t.match(failure.message, says)
    t.match(failure.message, /^The key "ssh-privatekey" of the Secret shop\/git .*\.$/)
    const words = String(value)
      .split(/\s+/)
      .filter((word) => word.length > 12)
    const shown = `${failure.message} ${String(failure.cause)} ${failure.stack ?? ''}`
    for (const word of words) t.notOk(shown.includes(word))
  })
}

t.test('another key in the same file is ignored', async (t) => {
  t.equal(
    readPrivateKey(Buffer.from(`${ED25519.privateKey}${other}`), PLACE),
    readPrivateKey(Buffer.from(ED25519.privateKey), PLACE),
  )
})

function bodyOf(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----/g, '')
}

function armour(bytes: Buffer): string {
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`
}
